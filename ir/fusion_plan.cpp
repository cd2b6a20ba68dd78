#include "ir/fusion_plan.h"

#include <algorithm>

namespace anabranch {

std::vector<int> reduced_axes(const Node& node) {
  if (auto* one = std::get_if<AxisAttributes>(&node.attributes)) {
    return {static_cast<int>(one->axis)};
  }
  const auto& axes = node.as<AxesAttributes>().axes;
  std::vector<int> sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool is_folded(const FusionPlan& plan, const Graph& graph, const Node& node) {
  return plan.kind == FusionKind::reduction && is_reduction(node.op) &&
         graph.type(node.inputs[0]).shape == plan.domain && reduced_axes(node) == plan.reduced_axes;
}

std::int64_t row_size(const FusionPlan& plan) {
  std::int64_t size = 1;
  for (int axis : plan.reduced_axes) size *= plan.domain[axis];
  return size;
}

bool has_few_long_rows(const FusionPlan& plan) {
  constexpr std::int64_t few = 64;
  constexpr std::int64_t long_row = 1 << 16;
  const std::int64_t size = row_size(plan);
  return plan.kind == FusionKind::reduction && size >= long_row && plan.domain.size() / size < few;
}

bool can_keep_rows(const FusionPlan& plan) {
  int innermost = plan.domain.rank() - 1;
  while (innermost >= 0 && plan.domain[innermost] == 1) --innermost;
  const auto& reduced = plan.reduced_axes;
  return std::find(reduced.begin(), reduced.end(), innermost) != reduced.end();
}

int operations_per_element(Op op) {
  if (is_library(op) || op == Op::fusion || is_control(op) || is_call(op)) return 0;
  if (info(op).kind == OpKind::leaf || is_index(op)) return 0;
  if (op == Op::random_bits) return 50;  // ten rounds of two wide products
  return info(op).has(OpInfo::approximate) ? 10 : 1;
}

}  // namespace anabranch
