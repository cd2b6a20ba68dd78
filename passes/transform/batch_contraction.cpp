// The rules of `batch` for dot and convolution: one product of larger arrays, in which the batch is
// one more axis of a kind that they have.
#include "passes/transform/batch_rules.h"

namespace anabranch::batch_rules {

// The batch's axis is a batch axis where both operands have it, else a free one of its operand.
BatchedResults dot(const BatchCall& call) {
  DotAttributes a = call.as<DotAttributes>();
  const auto batch_axes = static_cast<std::int64_t>(a.lhs_batch.size());
  const bool both = call.is_batched(0) && call.is_batched(1);
  if (call.is_batched(0)) {
    a.lhs_batch = behind_batch(a.lhs_batch);
    a.lhs_contracting = behind_batch(a.lhs_contracting);
  }
  if (call.is_batched(1)) {
    a.rhs_batch = behind_batch(a.rhs_batch);
    a.rhs_contracting = behind_batch(a.rhs_contracting);
  }
  if (both) {
    a.lhs_batch = with_first(0, a.lhs_batch);
    a.rhs_batch = with_first(0, a.rhs_batch);
  }
  const auto contracting = static_cast<std::int64_t>(a.lhs_contracting.size());
  const std::int64_t lhs_free = call.given(0).type().rank() - batch_axes - contracting;
  const Quantity result = call.add(Op::dot, {call.given(0).value, call.given(1).value}, a);
  if (both) return result;
  return result.move_axis(call.is_batched(0) ? batch_axes : batch_axes + lhs_free, 0);
}

namespace {

Quantity convolved(const BatchCall& call, Quantity lhs, Quantity rhs, ConvolutionAttributes a) {
  return call.add(Op::convolution, {lhs.value, rhs.value}, std::move(a));
}

// The result's axis number `which` in `result_axes`; the parts of a sum come before them.
std::int64_t result_axis(const ConvolutionAttributes& a, std::size_t which) {
  return a.result_axes[which] + (a.feature_splits > 1 ? 1 : 0);
}

// Images of all elements: [size, n, ...] as [size * n, ...].
Quantity over_images(const BatchCall& call, const ConvolutionAttributes& a) {
  const std::int64_t axis = a.lhs_axes[0], result = result_axis(a, 0);
  const Quantity lhs = call.given(0);
  const std::int64_t images = lhs.shape()[static_cast<int>(axis) + 1];
  const Quantity all = convolved(call, merge_axes(lhs.move_axis(0, axis), axis), call.given(1), a);
  return split_axis(all, result, {call.size, images}).move_axis(result, 0);
}

// Filters of all elements. A group's output features are next to each other, so the batch comes
// within it: [size, groups * n, ...] as [groups * size * n, ...].
Quantity over_filters(const BatchCall& call, const ConvolutionAttributes& a) {
  const std::int64_t axis = a.rhs_axes[0], result = result_axis(a, 1);
  const Quantity rhs = call.given(1);
  const std::int64_t of_group = rhs.shape()[static_cast<int>(axis) + 1] / a.groups;
  Quantity filters = split_axis(rhs.move_axis(0, axis), axis + 1, {a.groups, of_group});
  filters = merge_axes(merge_axes(filters.move_axis(axis, axis + 1), axis), axis);
  const Quantity all = convolved(call, call.given(0), filters, a);
  return merge_axes(
      split_axis(all, result, {a.groups, call.size, of_group}).move_axis(result + 1, 0),
      result + 1);
}

// Each element is a group, or as many as it has: [size, n] features as [size * n]. The parts of a
// split sum are groups too, each with all filters for its input features.
Quantity over_groups(const BatchCall& call, ConvolutionAttributes a) {
  const std::int64_t lhs_axis = a.lhs_axes[1], rhs_axis = a.rhs_axes[0], result = a.result_axes[1];
  const std::int64_t parts = a.feature_splits;
  const Quantity lhs = merge_axes(call.given(0).move_axis(0, lhs_axis), lhs_axis);
  Quantity rhs = call.given(1);
  const std::int64_t outputs = rhs.shape()[static_cast<int>(rhs_axis) + 1];
  if (parts > 1) {
    const std::int64_t inputs = a.rhs_axes[1] + 1;
    const std::int64_t of_part = rhs.shape()[static_cast<int>(inputs)] / parts;
    rhs = split_axis(rhs, inputs, {parts, of_part}).move_axis(inputs, 1);
    rhs = merge_axes(rhs, 0);
  }
  rhs = merge_axes(rhs.move_axis(0, rhs_axis), rhs_axis);
  a.groups *= call.size * parts;
  a.feature_splits = 1;
  const Quantity all = convolved(call, lhs, rhs, a);
  if (parts == 1) return split_axis(all, result, {call.size, outputs}).move_axis(result, 0);
  return split_axis(all, result, {call.size, parts, outputs})
      .move_axis(result, 0)
      .move_axis(result + 1, 1);
}

}  // namespace

BatchedResults convolution(const BatchCall& call) {
  const auto& a = call.as<ConvolutionAttributes>();
  if (!call.is_batched(1)) return over_images(call, a);
  if (!call.is_batched(0)) return over_filters(call, a);
  return over_groups(call, a);
}

}  // namespace anabranch::batch_rules
