#include "ir/fusion_counts.h"

#include <algorithm>
#include <bit>

#include "ir/checked.h"

namespace anabranch {
namespace {

std::int64_t row_size(const FusionPlan& plan) {
  std::int64_t size = 1;
  for (int axis : plan.reduced_axes) size *= plan.domain[axis];
  return size;
}

bool is_kept(const FusionPlan& plan, const Node& node, std::int64_t& kept_bytes) {
  if (operations_per_element(node.op) < kept_operations || !can_keep_rows(plan)) return false;
  const auto bytes = row_size(plan) * static_cast<std::int64_t>(byte_size(node.types[0].dtype));
  if (bytes > largest_kept_row || kept_bytes + bytes > largest_kept_rows) return false;
  kept_bytes += bytes;
  return true;
}

// In how many stages each element value is computed: in all that need it, or, if it is kept, in the
// first.
std::vector<int> turns_of(const FusionMembers& members, std::span<const Value> outputs,
                          const FusionPlan& plan) {
  std::vector<std::uint64_t> needed(members.size(), 0);  // a bit per stage
  const auto stage_bit = [&](std::size_t i) {
    return std::uint64_t{1} << std::min(plan.stage[i], 63);
  };
  for (Value output : outputs) {
    const std::size_t at = members.position(output.node);
    if (!is_reduction(members[at].op)) needed[at] |= stage_bit(at);
  }
  std::int64_t kept_bytes = 0;
  std::vector<int> turns(members.size(), 1);
  for (std::size_t i = members.size(); i-- > 0;) {
    const Node& node = members[i];
    std::uint64_t stages = is_reduction(node.op) ? stage_bit(i) : needed[i];
    if (std::popcount(stages) > 1 && is_kept(plan, node, kept_bytes)) stages &= -stages;
    turns[i] = std::max(1, std::popcount(stages));
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::size_t operand = members.operand(i, k);
      if (operand != FusionMembers::outside) needed[operand] |= stages;
    }
  }
  return turns;
}

}  // namespace

void count_operations(const FusionMembers& members, std::span<const Value> outputs,
                      std::span<const std::vector<Point>> demand, Point whole,
                      const std::function<std::int64_t(Point)>& times_of, FusionPlan& plan) {
  const std::vector<int> turns_by_member = turns_of(members, outputs, plan);
  std::vector<std::int64_t> below(members.size(), 0);  // operations that come before, in a row
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Node& node = members[i];
    const int turns = turns_by_member[i];
    // An element of a concatenation is chosen from all its parts.
    const auto parts =
        node.op == Op::concatenate ? static_cast<std::int64_t>(node.inputs.size()) : 1;
    const std::int64_t cost = parts > 1 ? parts - 1 : operations_per_element(node.op);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::size_t operand = members.operand(i, k);
      if (operand != FusionMembers::outside) below[i] = std::max(below[i], below[operand]);
    }
    const auto places = static_cast<std::int64_t>(demand[i].size());
    plan.instructions += std::max<std::int64_t>(cost, 1) * places * turns;
    if (cost == 0) continue;
    std::int64_t operations = 0;
    for (Point place : demand[i]) {
      const std::int64_t times = times_of(is_reduction(node.op) ? whole : place);
      const int in_stages = place == whole ? turns : 1;
      operations = saturating_add(operations, saturating_multiply(cost * in_stages, times));
    }
    if (parts == 1) plan.recompute = std::max(plan.recompute, places * turns);
    plan.operations = saturating_add(plan.operations, operations);
    below[i] = saturating_add(below[i], operations);
    longest = std::max(longest, below[i]);
  }
  if (plan.kind == FusionKind::reduction && plan.domain.size() == row_size(plan) &&
      !has_few_long_rows(plan)) {
    plan.side_by_side = plan.operations - std::max(longest, plan.operations / 2);
  }
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
