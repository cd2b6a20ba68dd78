#include <algorithm>
#include <numeric>

#include "passes/canonicalize.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

const Axes& axes_of(const Node& node) { return node.as<AxesAttributes>().axes; }

Axes iota_axes(std::size_t count) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// --- reshape -------------------------------------------------------------------------------------

std::optional<Value> same_shape(Rewriter& graph, const Node& node) {
  if (graph.type(node.inputs[0]).shape != node.types[0].shape) return std::nullopt;
  return node.inputs[0];
}

std::optional<Value> reshape_of_reshape(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  const bool inserts_units = inner.op == Op::broadcast_in_dim &&
                             inner.types[0].size() == graph.type(inner.inputs[0]).size() &&
                             std::is_sorted(axes_of(inner).begin(), axes_of(inner).end());
  if (inner.op != Op::reshape && !inserts_units) return std::nullopt;
  return graph.add(Op::reshape, {inner.inputs[0]}, NoAttributes{}, node.types[0]);
}

std::optional<Value> reshape_of_splat(Rewriter& graph, const Node& node) {
  auto scalar = graph.splat_of(node.inputs[0]);
  if (!scalar) return std::nullopt;
  return graph.splat(std::move(*scalar), node.types[0].shape);
}

// A reshape that only inserts axes of size 1 is a broadcast to them.
std::optional<Value> reshape_inserts_units(Rewriter& graph, const Node& node) {
  const Shape& from = graph.type(node.inputs[0]).shape;
  const Shape& to = node.types[0].shape;
  Axes axes;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const auto next = static_cast<int>(axes.size());
    if (next < from.rank() && to[axis] == from[next]) {
      axes.push_back(axis);
    } else if (to[axis] != 1) {
      return std::nullopt;
    }
  }
  if (static_cast<int>(axes.size()) != from.rank()) return std::nullopt;
  return graph.add(Op::broadcast_in_dim, {node.inputs[0]}, AxesAttributes{std::move(axes)},
                   node.types[0]);
}

// --- broadcast_in_dim ----------------------------------------------------------------------------

std::optional<Value> broadcast_to_same(Rewriter& graph, const Node& node) {
  const Type& from = graph.type(node.inputs[0]);
  if (from != node.types[0] || axes_of(node) != iota_axes(axes_of(node).size())) {
    return std::nullopt;
  }
  return node.inputs[0];
}

// Operand axis i goes to axis inner[i], and that to axis outer[inner[i]].
std::optional<Value> broadcast_of_broadcast(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::broadcast_in_dim) return std::nullopt;
  Axes axes;
  for (std::int64_t axis : axes_of(inner)) {
    axes.push_back(axes_of(node)[static_cast<std::size_t>(axis)]);
  }
  return graph.add(Op::broadcast_in_dim, {inner.inputs[0]}, AxesAttributes{std::move(axes)},
                   node.types[0]);
}

std::optional<Value> broadcast_of_transpose(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::transpose) return std::nullopt;
  const Axes& order = axes_of(inner);
  Axes axes(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    axes[static_cast<std::size_t>(order[i])] = axes_of(node)[i];
  }
  return graph.add(Op::broadcast_in_dim, {inner.inputs[0]}, AxesAttributes{std::move(axes)},
                   node.types[0]);
}

// --- transpose -----------------------------------------------------------------------------------

std::optional<Value> transpose_of_nothing(Rewriter&, const Node& node) {
  if (axes_of(node) != iota_axes(axes_of(node).size())) return std::nullopt;
  return node.inputs[0];
}

std::optional<Value> transpose_of_transpose(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::transpose) return std::nullopt;
  Axes axes;
  for (std::int64_t axis : axes_of(node)) {
    axes.push_back(axes_of(inner)[static_cast<std::size_t>(axis)]);
  }
  return graph.add(Op::transpose, {inner.inputs[0]}, AxesAttributes{std::move(axes)});
}

std::optional<Value> transpose_of_broadcast(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::broadcast_in_dim) return std::nullopt;
  const Axes& order = axes_of(node);
  Axes axes;
  for (std::int64_t axis : axes_of(inner)) {
    axes.push_back(std::find(order.begin(), order.end(), axis) - order.begin());
  }
  return graph.add(Op::broadcast_in_dim, {inner.inputs[0]}, AxesAttributes{std::move(axes)},
                   node.types[0]);
}

// Where the axes longer than 1 keep their order, every element keeps its place in memory.
std::optional<Value> transpose_of_units(Rewriter& graph, const Node& node) {
  const Shape& from = graph.type(node.inputs[0]).shape;
  Axes longer;
  for (std::int64_t axis : axes_of(node)) {
    if (from[static_cast<int>(axis)] != 1) longer.push_back(axis);
  }
  if (!std::is_sorted(longer.begin(), longer.end())) return std::nullopt;
  return graph.add(Op::reshape, {node.inputs[0]}, NoAttributes{}, node.types[0]);
}

}  // namespace

std::vector<Rule> layout_rules() {
  return {
      {"reshape(x) = x, to its own shape", {Op::reshape}, same_shape},
      {"reshape(c) = broadcast(c)", {Op::reshape}, reshape_of_splat},
      {"reshape(reshape(x)) = reshape(x)", {Op::reshape}, reshape_of_reshape},
      {"reshape(x) = broadcast(x), to more axes of size 1", {Op::reshape}, reshape_inserts_units},
      {"broadcast(x) = x, to its own shape", {Op::broadcast_in_dim}, broadcast_to_same},
      {"broadcast(broadcast(x)) = broadcast(x)", {Op::broadcast_in_dim}, broadcast_of_broadcast},
      {"broadcast(transpose(x)) = broadcast(x)", {Op::broadcast_in_dim}, broadcast_of_transpose},
      {"transpose(x) = x, in its own order", {Op::transpose}, transpose_of_nothing},
      {"transpose(transpose(x)) = transpose(x)", {Op::transpose}, transpose_of_transpose},
      {"transpose(broadcast(x)) = broadcast(x)", {Op::transpose}, transpose_of_broadcast},
      {"transpose(x) = reshape(x), of axes of size 1", {Op::transpose}, transpose_of_units},
  };
}

}  // namespace anabranch
