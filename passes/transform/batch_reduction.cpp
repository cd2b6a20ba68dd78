// The rules of `batch` for reductions: the batch's axis is kept.
#include <algorithm>

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

// An array whose reduced axes are one, the last, behind an element that is the initial value.
Quantity behind_initial(const BatchCall& call, std::size_t array, Quantity initial) {
  const Type& result = call.node.types[array];
  AxisList order = {0}, reduced = behind_batch(call.as<AxesAttributes>().axes);
  const Quantity x = call.whole(array);
  for (std::int64_t axis = 1; axis < x.type().rank(); ++axis) {
    if (std::ranges::find(reduced, axis) == reduced.end()) order.push_back(axis);
  }
  order.insert(order.end(), reduced.begin(), reduced.end());
  AxisList sizes = with_first(call.size, {result.shape.begin(), result.shape.end()});
  const auto last = static_cast<std::int64_t>(sizes.size());
  std::int64_t count = 1;
  for (std::int64_t axis : reduced) count *= x.shape()[static_cast<int>(axis)];
  sizes.push_back(count);
  const Quantity elements = x.transpose(order).reshape(Shape(sizes));
  sizes.back() = 1;
  const Quantity first = over_elements(initial, call.with_batch(result).shape);
  return {&call.to,
          call.to.add(Op::concatenate, {first.reshape(Shape(sizes)).value, elements.value},
                      AxisAttributes{last})};
}

// Initial values that differ among the elements become the first ones that are reduced: the order
// stays, and so does how results round.
BatchedResults from_batched_values(const BatchCall& call, std::size_t count) {
  std::vector<Value> arrays, none = {Quantity::zeros(call.to, {bool_, {}}).value};
  for (std::size_t i = 0; i < count; ++i) {
    arrays.push_back(behind_initial(call, i, call.whole(count + i)).value);
    none.push_back(Quantity::zeros(call.to, {call.given(i).dtype(), {}}).value);
  }
  const Shape shape = call.to.type(arrays[0]).shape;
  std::vector<Value> inputs = {Quantity::splat(call.to, {bool_, shape}, 1).value};
  inputs.insert(inputs.end(), arrays.begin(), arrays.end());
  inputs.insert(inputs.end(), none.begin(), none.end());
  Quantity first = call.add(Op::reduce, std::move(inputs), AxesAttributes{{shape.rank() - 1}},
                            std::nullopt, {flagged(call.node.regions[0], count)});
  ++first.value.result;  // behind the flag
  return all_results(call, first);
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
