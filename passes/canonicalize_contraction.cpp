#include <algorithm>

#include "passes/canonicalize.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

// Whether its sums and products are rounded, and its zeros have signs.
bool is_inexact(Dtype dtype) { return is_float(dtype) || is_complex(dtype); }

// --- reductions ----------------------------------------------------------------------------------

// Folding at most one element gives that element, reshaped. A float's sum begins at 0, so that of
// -0 is 0: adding 0 says so.
std::optional<Value> reduce_of_units(Rewriter& graph, const Node& node) {
  const Type& from = graph.type(node.inputs[0]);
  for (std::int64_t axis : node.as<AxesAttributes>().axes) {
    if (from.shape[static_cast<int>(axis)] != 1) return std::nullopt;
  }
  const Dtype dtype = from.dtype;
  Value same = graph.add(Op::reshape, {node.inputs[0]}, NoAttributes{}, node.types[0]);
  if (node.op != Op::reduce_sum || !is_inexact(dtype)) return same;
  Value zero = graph.splat(Literal::scalar(dtype, 0), node.types[0].shape);
  return graph.add(Op::add, {same, zero});
}

// Both at once, where the order in which elements are combined changes nothing.
std::optional<Value> reduce_of_reduce(Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[0]);
  if (below.op != node.op || graph.is_shared(node.inputs[0])) return std::nullopt;
  const bool rounds = (node.op == Op::reduce_sum || node.op == Op::reduce_product) &&
                      is_inexact(node.types[0].dtype);
  if (rounds && !graph.fast_math()) return std::nullopt;
  Axes axes = below.as<AxesAttributes>().axes;
  Axes kept;
  const int rank = graph.type(below.inputs[0]).rank();
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
  }
  for (std::int64_t axis : node.as<AxesAttributes>().axes) {
    axes.push_back(kept[static_cast<std::size_t>(axis)]);
  }
  std::sort(axes.begin(), axes.end());
  return graph.add(node.op, {below.inputs[0]}, AxesAttributes{std::move(axes)});
}

// --- dot -----------------------------------------------------------------------------------------

// A dot names its axes, so a transpose before it is only other names, unless it changes the order
// of the free axes, which is that of the result.
bool absorb_transpose(const Rewriter& graph, Value& operand, Axes& batch, Axes& contracting) {
  const Node& node = graph.node(operand);
  if (node.op != Op::transpose) return false;
  const Axes& order = node.as<AxesAttributes>().axes;
  Axes free;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    auto is_in = [&](const Axes& list) {
      return std::find(list.begin(), list.end(), static_cast<std::int64_t>(axis)) != list.end();
    };
    if (!is_in(batch) && !is_in(contracting)) free.push_back(order[axis]);
  }
  if (!std::is_sorted(free.begin(), free.end())) return false;
  for (Axes* axes : {&batch, &contracting}) {
    for (std::int64_t& axis : *axes) axis = order[static_cast<std::size_t>(axis)];
  }
  operand = node.inputs[0];
  return true;
}

std::optional<Value> dot_of_transpose(Rewriter& graph, const Node& node) {
  DotAttributes dot = node.as<DotAttributes>();
  Value lhs = node.inputs[0];
  Value rhs = node.inputs[1];
  const bool left = absorb_transpose(graph, lhs, dot.lhs_batch, dot.lhs_contracting);
  const bool right = absorb_transpose(graph, rhs, dot.rhs_batch, dot.rhs_contracting);
  if (!left && !right) return std::nullopt;
  return graph.add(Op::dot, {lhs, rhs}, std::move(dot));
}

}  // namespace

std::vector<Rule> contraction_rules() {
  const std::vector<Op> named = {Op::reduce_sum, Op::reduce_product, Op::reduce_max,
                                 Op::reduce_min, Op::reduce_any,     Op::reduce_all};
  return {
      {"reduce(x) = reshape(x), over axes of size 1", named, reduce_of_units},
      {"reduce(reduce(x)) = reduce(x), over all the axes", named, reduce_of_reduce},
      {"dot(transpose(x), y) = dot(x, y)", {Op::dot}, dot_of_transpose},
  };
}

}  // namespace anabranch
