// The rules of `batch` for what the host computes: matrices that leading axes count, lines along an
// axis, copies, and the user's own functions.
#include "passes/transform/batch_rules.h"

namespace anabranch::batch_rules {
namespace {

// With the same attributes, since the op looks at the last axes alone.
BatchedResults on_last_axes(const BatchCall& call) {
  return all_results(call, call.add(call.node.op, call.all_whole(), call.node.attributes));
}

template <class A>
BatchedResults along_axis(const BatchCall& call) {
  A attributes = call.as<A>();
  ++attributes.axis;
  return call.add(call.node.op, {call.given(0).value}, std::move(attributes));
}

}  // namespace

BatchedResults sort(const BatchCall& call) { return along_axis<SortAttributes>(call); }
BatchedResults argsort(const BatchCall& call) { return along_axis<ArgsortAttributes>(call); }
BatchedResults cumulative(const BatchCall& call) { return along_axis<CumulativeAttributes>(call); }

BatchedResults cholesky(const BatchCall& call) { return on_last_axes(call); }
BatchedResults triangular_solve(const BatchCall& call) { return on_last_axes(call); }
BatchedResults lu(const BatchCall& call) { return on_last_axes(call); }
BatchedResults qr(const BatchCall& call) { return on_last_axes(call); }
BatchedResults qr_pivoted(const BatchCall& call) { return on_last_axes(call); }
BatchedResults householder_product(const BatchCall& call) { return on_last_axes(call); }
BatchedResults svd(const BatchCall& call) { return on_last_axes(call); }
BatchedResults eigh(const BatchCall& call) { return on_last_axes(call); }
BatchedResults eig(const BatchCall& call) { return on_last_axes(call); }
BatchedResults schur(const BatchCall& call) { return on_last_axes(call); }
BatchedResults tridiagonal_solve(const BatchCall& call) { return on_last_axes(call); }
BatchedResults fft(const BatchCall& call) { return on_last_axes(call); }
BatchedResults transfer(const BatchCall& call) { return on_last_axes(call); }

// --- the user's functions -----------------------------------------------------------------------

namespace {

Shape first_of(const Shape& shape, std::int64_t size) {
  AxisList sizes(shape.begin(), shape.end());
  sizes.insert(sizes.begin(), size);
  return Shape(std::move(sizes));
}

std::vector<Value> starts_at(Quantity index, int rank) {
  std::vector<Value> starts(static_cast<std::size_t>(rank), index.number(0).value);
  starts.insert(starts.begin(), index.value);
  return starts;
}

// Element `index` of an array whose first axis is the batch's.
Quantity element(Quantity x, Quantity index, const Type& type) {
  std::vector<Value> inputs = starts_at(index, type.rank());
  inputs.insert(inputs.begin(), x.value);
  const Quantity block{
      x.graph,
      x.graph->add(Op::dynamic_slice, std::move(inputs),
                   SizesAttributes{with_first(1, {type.shape.begin(), type.shape.end()})})};
  return block.reshape(type.shape);
}

Quantity with_element(Quantity x, Quantity index, Quantity of) {
  std::vector<Value> inputs = starts_at(index, of.type().rank());
  const Quantity block = of.reshape(first_of(of.shape(), 1));
  inputs.insert(inputs.begin(), {x.value, block.value});
  return {x.graph, x.graph->add(Op::dynamic_update_slice, std::move(inputs))};
}

// A region's parameters: the index, the results so far, the operands.
struct CallLoop {
  const BatchCall& call;
  GraphBuilder builder;
  std::vector<Quantity> parameters;

  CallLoop(const BatchCall& called, const char* name, const std::vector<Value>& operands)
      : call(called), builder(name) {
    for (Value operand : operands) {
      parameters.push_back({&builder, builder.parameter(call.to.type(operand))});
    }
  }
  Graph condition() {
    const Quantity index = parameters[0];
    const Value end = builder.constant(Literal::scalar(call.size));
    return builder.build({(index < Quantity{&builder, end}).value});
  }
  Graph body() {
    const std::size_t results = call.node.types.size();
    const Quantity index = parameters[0];
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Quantity operand = parameters[1 + results + i];
      if (!call.is_batched(i)) {
        inputs.push_back(operand.value);
        continue;
      }
      const Shape shape = operand.shape();
      AxisList sizes(shape.begin() + 1, shape.end());
      inputs.push_back(element(operand, index, {operand.dtype(), Shape(std::move(sizes))}).value);
    }
    const Value first = builder.add(Op::custom_call, std::move(inputs), call.node.attributes,
                                    std::nullopt, {}, call.node.location);
    std::vector<Value> next = {(index + 1).value};
    for (std::uint32_t i = 0; i < results; ++i) {
      const Quantity result{&builder, {first.node, i}};
      next.push_back(with_element(parameters[1 + i], index, result).value);
    }
    return builder.build(std::move(next));
  }
};

}  // namespace

// Of each element its own state; `batch` has taken all checks out of loops and branches.
BatchedResults check(const BatchCall& call) {
  return all_results(call, call.add(Op::check, call.all_whole(), call.node.attributes));
}

BatchedResults custom_call(const BatchCall& call) {
  std::vector<Value> inputs = {call.to.constant(Literal::scalar(std::int64_t{0}))};
  for (const Type& type : call.node.types) {
    inputs.push_back(Quantity::zeros(call.to, call.with_batch(type)).value);
  }
  for (const BatchedValue& operand : call.operands) inputs.push_back(operand.value);
  std::vector<Graph> regions = {CallLoop(call, "condition", inputs).condition(),
                                CallLoop(call, "body", inputs).body()};
  Quantity first =
      call.add(Op::while_, std::move(inputs), WhileAttributes{}, std::nullopt, std::move(regions));
  ++first.value.result;  // behind the index
  return all_results(call, first);
}

}  // namespace anabranch::batch_rules
