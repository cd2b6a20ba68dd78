// Identities of dots and convolutions.
#include <algorithm>

#include "tests/support/identities.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;
using Written = std::optional<Value>;

bool holds(const Axes& axes, std::int64_t axis) { return std::ranges::count(axes, axis) > 0; }

// The axes of one side that the result has behind the batch.
Axes free_axes(int rank, const Axes& batch, const Axes& contracting) {
  Axes axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (!holds(batch, axis) && !holds(contracting, axis)) axes.push_back(axis);
  }
  return axes;
}

Written dot_of_swapped(IdentityWriter& to, const Node& node, Value x) {
  if (node.op != Op::dot) return std::nullopt;
  const auto& dot = node.as<DotAttributes>();
  const DotAttributes swapped{dot.rhs_batch, dot.lhs_batch, dot.rhs_contracting,
                              dot.lhs_contracting};
  const auto batch = static_cast<std::int64_t>(dot.lhs_batch.size());
  const std::int64_t from_left = to.type(node.inputs[0]).rank() - batch -
                                 static_cast<std::int64_t>(dot.lhs_contracting.size());
  const std::int64_t rank = to.type(x).rank(), from_right = rank - batch - from_left;
  AxesAttributes order;
  for (std::int64_t axis = 0; axis < batch; ++axis) order.axes.push_back(axis);
  for (std::int64_t k = 0; k < from_left; ++k) order.axes.push_back(batch + from_right + k);
  for (std::int64_t k = 0; k < from_right; ++k) order.axes.push_back(batch + k);
  const Value turned = to.add(Op::dot, {node.inputs[1], node.inputs[0]}, swapped);
  return to.add(Op::transpose, {turned}, order);
}

Written dot_of_transposed(IdentityWriter& to, const Node& node, Value x) {
  if (node.op != Op::dot) return std::nullopt;
  DotAttributes dot = node.as<DotAttributes>();
  const int rank = to.type(node.inputs[0]).rank();
  const Axes order = random_order(to.random, rank);
  // What is left free comes in another order.
  const auto batch = static_cast<std::int64_t>(dot.lhs_batch.size());
  const Axes before = free_axes(rank, dot.lhs_batch, dot.lhs_contracting);
  for (Axes* axes : {&dot.lhs_batch, &dot.lhs_contracting}) {
    for (std::int64_t& axis : *axes) axis = std::ranges::find(order, axis) - order.begin();
  }
  const Axes after = free_axes(rank, dot.lhs_batch, dot.lhs_contracting);
  Axes place(order.size());  // in the result, of an axis of the operand as it was
  for (std::size_t k = 0; k < after.size(); ++k) {
    const auto was = static_cast<std::size_t>(order[static_cast<std::size_t>(after[k])]);
    place[was] = batch + static_cast<std::int64_t>(k);
  }
  AxesAttributes back;
  for (std::int64_t axis = 0; axis < batch; ++axis) back.axes.push_back(axis);
  for (std::int64_t axis : before) back.axes.push_back(place[static_cast<std::size_t>(axis)]);
  while (std::ssize(back.axes) < to.type(x).rank()) back.axes.push_back(std::ssize(back.axes));
  const Value turned = to.add(Op::transpose, {node.inputs[0]}, AxesAttributes{order});
  return to.add(Op::transpose, {to.add(Op::dot, {turned, node.inputs[1]}, dot)}, back);
}

Written dot_in_parts(IdentityWriter& to, const Node& node, Value x) {
  const auto axis = to.axis_of(x);
  if (node.op != Op::dot || !axis) return std::nullopt;
  const auto& dot = node.as<DotAttributes>();
  const Axes left = free_axes(to.type(node.inputs[0]).rank(), dot.lhs_batch, dot.lhs_contracting);
  const Axes right = free_axes(to.type(node.inputs[1]).rank(), dot.rhs_batch, dot.rhs_contracting);
  const auto batch = dot.lhs_batch.size();
  const auto at = static_cast<std::size_t>(*axis);
  std::optional<std::int64_t> of_left, of_right;
  if (at < batch) {
    of_left = dot.lhs_batch[at];
    of_right = dot.rhs_batch[at];
  } else if (at < batch + left.size()) {
    of_left = left[at - batch];
  } else {
    of_right = right[at - batch - left.size()];
  }
  const std::int64_t size = to.size(x, *axis), cut = to.cut(size);
  const auto half = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Value> operands = node.inputs;
    if (of_left) operands[0] = to.part(operands[0], *of_left, begin, end);
    if (of_right) operands[1] = to.part(operands[1], *of_right, begin, end);
    return to.again(node, operands);
  };
  const Value first = half(0, cut);
  return to.concatenate({first, half(cut, size)}, *axis);
}

Written dot_in_sums(IdentityWriter& to, const Node& node, Value x) {
  if (node.op != Op::dot || !is_integer(to.dtype(x))) return std::nullopt;
  const auto& dot = node.as<DotAttributes>();
  if (dot.lhs_contracting.empty()) return std::nullopt;
  const std::int64_t left = dot.lhs_contracting[0], right = dot.rhs_contracting[0];
  const std::int64_t size = to.size(node.inputs[0], left), cut = to.cut(size);
  const auto half = [&](std::int64_t begin, std::int64_t end) {
    const Value lhs = to.part(node.inputs[0], left, begin, end);
    return to.again(node, {lhs, to.part(node.inputs[1], right, begin, end)});
  };
  const Value first = half(0, cut);
  return to.add(Op::add, {first, half(cut, size)});
}

Written convolution_in_parts(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::convolution) return std::nullopt;
  const auto& axes = node.as<ConvolutionAttributes>();
  // Images of the left operand, or features of the right one where all see the same.
  const int side = axes.groups == 1 && to.random.percent(50) ? 1 : 0;
  const std::int64_t axis = side == 0 ? axes.lhs_axes[0] : axes.rhs_axes[0];
  const std::int64_t result =
      axes.result_axes[static_cast<std::size_t>(side)] + (axes.feature_splits > 1 ? 1 : 0);
  const std::int64_t size = to.size(node.inputs[static_cast<std::size_t>(side)], axis);
  const std::int64_t cut = to.cut(size);
  const auto half = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Value> operands = node.inputs;
    Value& operand = operands[static_cast<std::size_t>(side)];
    operand = to.part(operand, axis, begin, end);
    return to.again(node, operands);
  };
  const Value first = half(0, cut);
  return to.concatenate({first, half(cut, size)}, result);
}

const Rewrite table[] = {
    {"dot(x, y) = transpose(dot(y, x))", dot_of_swapped},
    {"dot(x, y) = transpose(dot(transpose(x), y))", dot_of_transposed},
    {"dot(x, y) = concatenate(dot(x[:k], y), dot(x[k:], y))", dot_in_parts},
    {"dot(x, y) = dot(x[:k], y[:k]) + dot(x[k:], y[k:]), for integers", dot_in_sums},
    {"convolution(x, y) = concatenate(convolution(x[:k], y), convolution(x[k:], y))",
     convolution_in_parts},
};

}  // namespace

std::span<const Identity> product_identities() {
  static const std::vector<Identity> rows = of_certain_ops(table);
  return rows;
}

}  // namespace anabranch
