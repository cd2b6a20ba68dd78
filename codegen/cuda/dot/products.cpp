#include "codegen/cuda/dot/products.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>

#include "codegen/plan/dot_axes.h"

namespace anabranch::cuda {
namespace {

// Where it takes more calls, transposing an operand takes less time.
constexpr std::int64_t most_calls = 16;

// An axis of the result, with its strides in A, B and D.
struct ResultAxis {
  std::int64_t size = 1;
  std::array<std::int64_t, 3> strides{};  // of A, B, D
};
using ResultAxes = std::vector<ResultAxis>;

enum Operand { A, B, D };

// The same elements as fewer axes, none of size 1.
ResultAxes merged(const ResultAxes& axes) {
  ResultAxes merged;  // innermost first
  for (const ResultAxis& axis : std::views::reverse(axes)) {
    if (axis.size == 1) continue;
    bool goes_on = !merged.empty();
    for (int i = A; goes_on && i <= D; ++i) {
      const auto at = static_cast<std::size_t>(i);
      goes_on = axis.strides[at] == merged.back().size * merged.back().strides[at];
    }
    if (goes_on) {
      merged.back().size *= axis.size;
    } else {
      merged.push_back(axis);
    }
  }
  std::ranges::reverse(merged);
  return merged;
}

// Takes the axis out of `axes`; one of a single element where there is none.
ResultAxis take(ResultAxes& axes, ResultAxes::iterator which) {
  if (which == axes.end()) return {};
  const ResultAxis taken = *which;
  axes.erase(which);
  return taken;
}

bool is_smaller(const ResultAxis& x, const ResultAxis& y) { return x.size < y.size; }

// The axes of the result, which is row-major over batch, left free and right free axes.
struct ResultShape {
  ResultAxes batch, left, right;
};

ResultShape result_shape(const DotOperand& left, const DotOperand& right) {
  ResultShape shape;
  for (std::size_t i = 0; i < left.batch.size(); ++i) {
    const StridedAxis& axis = left.batch[i];
    shape.batch.push_back({axis.size, {right.batch[i].stride, axis.stride, 0}});
  }
  for (const StridedAxis& axis : left.free) shape.left.push_back({axis.size, {0, axis.stride, 0}});
  for (const StridedAxis& axis : right.free) {
    shape.right.push_back({axis.size, {axis.stride, 0, 0}});
  }
  std::int64_t stride = 1;
  for (ResultAxes* axes : {&shape.right, &shape.left, &shape.batch}) {
    for (ResultAxis& axis : std::views::reverse(*axes)) {
      axis.strides[D] = stride;
      stride *= axis.size;
    }
    *axes = merged(*axes);
  }
  return shape;
}

// How the matrix of a free and the contracting axis is stored: one of the two is consecutive.
struct Stored {
  bool is_free_consecutive = false;
  std::int64_t leading = 1;
};

std::optional<Stored> stored(StridedAxis free, StridedAxis contracting) {
  // The stride along a single element is anything.
  if (free.size == 1) free.stride = contracting.stride == 1 ? contracting.size : 1;
  if (contracting.size == 1) contracting.stride = free.stride == 1 ? free.size : 1;
  if (free.stride == 1 && contracting.stride >= free.size) return Stored{true, contracting.stride};
  if (contracting.stride == 1 && free.stride >= contracting.size) return Stored{false, free.stride};
  return std::nullopt;
}

// One call for each element of `axes`; nothing where these are too many.
std::optional<std::vector<DotProducts::Call>> calls_over(const ResultAxes& axes) {
  std::vector<DotProducts::Call> calls(1);
  for (const ResultAxis& axis : axes) {
    if (static_cast<std::int64_t>(calls.size()) * axis.size > most_calls) return std::nullopt;
    std::vector<DotProducts::Call> more;
    for (const DotProducts::Call& call : calls) {
      for (std::int64_t i = 0; i < axis.size; ++i) {
        more.push_back({call.a + i * axis.strides[A], call.b + i * axis.strides[B],
                        call.d + i * axis.strides[D]});
      }
    }
    calls = std::move(more);
  }
  return calls;
}

// Pairs of contracting axes in the order of the left operand's, which folds more of them.
DotAttributes in_order(const DotAttributes& attributes) {
  std::vector<std::size_t> order(attributes.lhs_contracting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return attributes.lhs_contracting[i]; });
  DotAttributes sorted = attributes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.lhs_contracting[i] = attributes.lhs_contracting[order[i]];
    sorted.rhs_contracting[i] = attributes.rhs_contracting[order[i]];
  }
  return sorted;
}

// The axes of an operand as batch, free and contracting ones, and the names of these changed to
// match.
std::vector<std::int64_t> transposed(Type& type, std::vector<std::int64_t>& batch,
                                     std::vector<std::int64_t>& contracting) {
  std::vector<std::int64_t> order = batch;
  for (std::int64_t axis = 0; axis < type.rank(); ++axis) {
    if (std::ranges::count(batch, axis) + std::ranges::count(contracting, axis) == 0) {
      order.push_back(axis);
    }
  }
  const auto first_contracting = static_cast<std::int64_t>(order.size());
  order.insert(order.end(), contracting.begin(), contracting.end());
  std::vector<std::int64_t> sizes;
  for (std::int64_t axis : order) sizes.push_back(type.shape[static_cast<int>(axis)]);
  type.shape = Shape(sizes);
  std::iota(batch.begin(), batch.end(), std::int64_t{0});
  std::iota(contracting.begin(), contracting.end(), first_contracting);
  return order;
}

LaidOutDot transpose(LaidOutDot dot, bool lhs, bool rhs) {
  DotAttributes& axes = dot.attributes;
  if (lhs) dot.lhs_order = transposed(dot.lhs, axes.lhs_batch, axes.lhs_contracting);
  if (rhs) dot.rhs_order = transposed(dot.rhs, axes.rhs_batch, axes.rhs_contracting);
  return dot;
}

}  // namespace

std::optional<DotProducts> dot_products(const Type& lhs, const Type& rhs,
                                        const DotAttributes& attributes) {
  if (lhs.size() == 0 || rhs.size() == 0) return std::nullopt;
  const DotOperand left = left_operand(lhs, attributes), right = right_operand(rhs, attributes);
  const auto left_inner = folded(left.contracting), right_inner = folded(right.contracting);
  if (!left_inner || !right_inner) return std::nullopt;

  auto [axes, left_free, right_free] = result_shape(left, right);
  // The rows of D are consecutive in memory; what else is free is as good as an axis of the batch.
  const ResultAxis rows =
      take(right_free, right_free.empty() ? right_free.end() : std::prev(right_free.end()));
  const ResultAxis columns = take(left_free, std::ranges::max_element(left_free, is_smaller));
  axes.insert(axes.end(), left_free.begin(), left_free.end());
  axes.insert(axes.end(), right_free.begin(), right_free.end());

  const auto a = stored({rows.size, rows.strides[A]}, *right_inner);
  const auto b = stored({columns.size, columns.strides[B]}, *left_inner);
  if (!a || !b) return std::nullopt;
  DotProducts products;
  products.rows = rows.size;
  products.columns = columns.size;
  products.inner = left_inner->size;
  products.d.leading = columns.size == 1 ? rows.size : columns.strides[D];

  // The results of a batch are one after the other.
  const std::int64_t result = products.d.leading * products.columns;
  auto batch = axes.end();
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    if (axis->strides[D] < result) continue;
    if (batch == axes.end() || is_smaller(*batch, *axis)) batch = axis;
  }
  const ResultAxis together = take(axes, batch);
  products.batch = together.size;
  products.a = {!a->is_free_consecutive, a->leading, together.strides[A]};
  products.b = {b->is_free_consecutive, b->leading, together.strides[B]};
  products.d.batch_stride = together.strides[D];
  auto calls = calls_over(axes);
  if (!calls) return std::nullopt;
  products.calls = std::move(*calls);
  return products;
}

LaidOutDot lay_out(const Type& lhs, const Type& rhs, const DotAttributes& attributes) {
  const LaidOutDot as_it_is{lhs, rhs, in_order(attributes), {}, {}};
  const bool left_first = lhs.size() < rhs.size();
  for (auto [left, right] : {std::pair(false, false), std::pair(left_first, !left_first),
                             std::pair(!left_first, left_first)}) {
    LaidOutDot dot = transpose(as_it_is, left, right);
    if (dot_products(dot.lhs, dot.rhs, dot.attributes)) return dot;
  }
  return transpose(as_it_is, true, true);
}

bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes&) {
  constexpr std::array dtypes = {f16, bf16, f32, f64};
  return lhs.dtype == rhs.dtype && std::ranges::count(dtypes, lhs.dtype) > 0 && lhs.size() > 0 &&
         rhs.size() > 0;
}

}  // namespace anabranch::cuda
