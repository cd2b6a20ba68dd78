#include "passes/transform/batch_rules.h"

#include <algorithm>

namespace anabranch {

AxisList behind_batch(AxisList axes) {
  for (std::int64_t& axis : axes) ++axis;
  return axes;
}

AxisList with_first(std::int64_t first, const AxisList& others) {
  AxisList all = {first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Quantity merge_axes(Quantity x, std::int64_t axis) {
  const Shape shape = x.shape();
  AxisList sizes(shape.begin(), shape.end());
  const auto at = sizes.begin() + axis;
  *at *= *(at + 1);
  sizes.erase(at + 1);
  return x.reshape(Shape(std::move(sizes)));
}

Quantity split_axis(Quantity x, std::int64_t axis, const AxisList& into) {
  const Shape shape = x.shape();
  AxisList sizes(shape.begin(), shape.end());
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, into.begin(), into.end());
  return x.reshape(Shape(std::move(sizes)));
}

Quantity over_elements(Quantity x, const Shape& to) {
  return x.shape() == to ? x : x.broadcast(to, axes_up_to(x.type().rank()));
}

BatchedResults all_results(const BatchCall& call, Quantity first) {
  std::vector<BatchedValue> results;
  for (std::uint32_t i = 0; i < call.node.types.size(); ++i) {
    results.push_back({{first.value.node, first.value.result + i}, true});
  }
  return results;
}

bool BatchCall::any_batched(std::size_t first, std::size_t count) const {
  const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(first);
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                     [](const BatchedValue& operand) { return operand.batched; });
}

Quantity with_batch_axis(GraphBuilder& to, BatchedValue value, std::int64_t size) {
  const Quantity x{&to, value.value};
  if (value.batched) return x;
  return x.broadcast(with_first_axis(x.type(), size).shape,
                     behind_batch(axes_up_to(x.type().rank())));
}

std::vector<Value> BatchCall::all_whole() const {
  std::vector<Value> values;
  for (const BatchedValue& operand : operands) values.push_back(whole(operand).value);
  return values;
}

Quantity BatchCall::add(Op op, std::vector<Value> inputs, Attributes attributes,
                        std::optional<Type> stated, std::vector<Graph> regions) const {
  return {&to, to.add(op, std::move(inputs), std::move(attributes), std::move(stated),
                      std::move(regions), node.location)};
}

}  // namespace anabranch
