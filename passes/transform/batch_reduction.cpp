// The rules of `batch` for reductions: the batch's axis is kept.
#include "ir/graph/copier.h"
#include "passes/transform/batch_rules.h"

namespace anabranch::batch_rules {
namespace {

BatchedResults over_axes(const BatchCall& call) {
  return call.add(call.node.op, {call.given(0).value},
                  AxesAttributes{behind_batch(call.as<AxesAttributes>().axes)});
}

BatchedResults position(const BatchCall& call) {
  return call.add(call.node.op, {call.given(0).value},
                  AxisAttributes{call.as<AxisAttributes>().axis + 1},
                  call.with_batch(call.node.types[0]));
}

// A body of scalars with a flag in front of each of its sides, which says whether that side holds
// anything: a side that does not gives the other one. So the reduction needs no value to begin
// with.
Graph flagged(const Graph& body, std::size_t count) {
  GraphBuilder builder(body.name());
  GraphCopier copier(body, builder);
  std::uint32_t parameter = 0;
  std::vector<Quantity> sides[2];
  for (std::vector<Quantity>& side : sides) {
    side.push_back({&builder, builder.parameter({bool_, {}})});
    for (std::size_t i = 0; i < count; ++i) {
      side.push_back({&builder, builder.parameter(body.parameter_type(i))});
      copier.rename(parameter++, side.back().value);
    }
  }
  copier.copy_body();
  const auto& [so_far, next] = sides;
  std::vector<Value> outputs = {(so_far[0] | next[0]).value};
  for (Value combined : copier(body.outputs())) {
    const std::size_t i = outputs.size();
    const Quantity known = select(next[0], {&builder, combined}, so_far[i]);
    outputs.push_back(select(so_far[0], known, next[i]).value);
  }
  return builder.build(std::move(outputs));
}

// What the arrays are reduced to without initial values; there is something to reduce.
std::vector<Quantity> reduced_alone(const BatchCall& call, std::size_t count) {
  std::vector<Value> inputs = {Quantity::splat(call.to, {bool_, call.whole(0).shape()}, 1).value};
  std::vector<Value> none = {Quantity::zeros(call.to, {bool_, {}}).value};
  for (std::size_t i = 0; i < count; ++i) {
    inputs.push_back(call.whole(i).value);
    none.push_back(Quantity::zeros(call.to, {call.given(i).dtype(), {}}).value);
  }
  inputs.insert(inputs.end(), none.begin(), none.end());
  const Quantity first = call.add(Op::reduce, std::move(inputs),
                                  AxesAttributes{behind_batch(call.as<AxesAttributes>().axes)},
                                  std::nullopt, {flagged(call.node.regions[0], count)});
  std::vector<Quantity> results;
  for (std::uint32_t i = 1; i <= count; ++i) results.push_back({&call.to, {first.value.node, i}});
  return results;
}

// Initial values that differ among the elements are combined with what is reduced without them,
// which the body allows, being associative.
BatchedResults from_batched_values(const BatchCall& call, std::size_t count) {
  const Type result = call.with_batch(call.node.types[0]);
  std::vector<Quantity> initial;
  for (std::size_t i = 0; i < count; ++i) {
    initial.push_back(over_elements(call.whole(count + i), result.shape));
  }
  std::int64_t reduced = 1;
  for (std::int64_t axis : call.as<AxesAttributes>().axes) {
    reduced *= call.whole(0).shape()[static_cast<int>(axis) + 1];
  }
  std::vector<BatchedValue> values;
  if (reduced == 0 || result.size() == 0) {
    for (Quantity x : initial) values.push_back({x.value, true});
    return values;
  }
  // The body, of scalars, for every element of the results.
  std::vector<Quantity> sides = initial;
  const std::vector<Quantity> alone = reduced_alone(call, count);
  sides.insert(sides.end(), alone.begin(), alone.end());
  for (Quantity side : sides) values.push_back({side.reshape({result.size()}).value, true});
  values = batch_into(call.to, call.node.regions[0], result.size(), values);
  for (BatchedValue& value : values) {
    const Quantity combined = with_batch_axis(call.to, value, result.size());
    value = {combined.reshape(result.shape).value, true};
  }
  return values;
}

}  // namespace

BatchedResults reduce_sum(const BatchCall& call) { return over_axes(call); }
BatchedResults reduce_product(const BatchCall& call) { return over_axes(call); }
BatchedResults reduce_max(const BatchCall& call) { return over_axes(call); }
BatchedResults reduce_min(const BatchCall& call) { return over_axes(call); }
BatchedResults reduce_any(const BatchCall& call) { return over_axes(call); }
BatchedResults reduce_all(const BatchCall& call) { return over_axes(call); }
BatchedResults argmax(const BatchCall& call) { return position(call); }
BatchedResults argmin(const BatchCall& call) { return position(call); }

BatchedResults reduce(const BatchCall& call) {
  const std::size_t count = call.node.types.size();
  if (call.any_batched(count, count)) return from_batched_values(call, count);
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < count; ++i) inputs.push_back(call.whole(i).value);
  for (std::size_t i = 0; i < count; ++i) inputs.push_back(call.given(count + i).value);
  const Quantity first = call.add(Op::reduce, std::move(inputs),
                                  AxesAttributes{behind_batch(call.as<AxesAttributes>().axes)},
                                  std::nullopt, call.node.regions);
  return all_results(call, first);
}

}  // namespace anabranch::batch_rules
