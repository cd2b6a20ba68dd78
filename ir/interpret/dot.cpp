// dot: sums of products over paired axes, accumulated in a wider type and rounded once.
#include <algorithm>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

// The axes of a rank-`rank` operand that are neither batch nor contracting, ascending.
Axes free_axes(int rank, const Axes& batch, const Axes& contracting) {
  Axes free;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(batch, axis) + std::ranges::count(contracting, axis) == 0) {
      free.push_back(axis);
    }
  }
  return free;
}

Axes joined(Axes first, const Axes& second, const Axes& third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

}  // namespace

Results rules::dot(const Node& node, Operands operands) {
  const auto& axes = node.as<DotAttributes>();
  const Type& lhs = operands[0].type();
  const Type& rhs = operands[1].type();
  const Axes lhs_free = free_axes(lhs.rank(), axes.lhs_batch, axes.lhs_contracting);
  const Axes rhs_free = free_axes(rhs.rank(), axes.rhs_batch, axes.rhs_contracting);
  const Axes lhs_strides = lhs.shape.strides();
  const Axes rhs_strides = rhs.shape.strides();
  // Over the result's axes (batch, left free, right free), then over the contracting ones: by how
  // much an operand's position moves with each axis; 0 where it does not.
  const Axes lhs_outer = joined(pick(lhs_strides, axes.lhs_batch), pick(lhs_strides, lhs_free),
                                Axes(rhs_free.size(), 0));
  const Axes rhs_outer = joined(pick(rhs_strides, axes.rhs_batch), Axes(lhs_free.size(), 0),
                                pick(rhs_strides, rhs_free));
  const Axes lhs_inner = pick(lhs_strides, axes.lhs_contracting);
  const Axes rhs_inner = pick(rhs_strides, axes.rhs_contracting);
  const Shape inner(pick(lhs.shape.sizes(), axes.lhs_contracting));

  return visit_any_dtype(lhs.dtype, [&]<class T>() {
    using Sum = Exact<T>;
    auto x = operands[0].values<T>();
    auto y = operands[1].values<T>();
    Elements<T> result(node.types[0]);
    std::int64_t next = 0;
    for_each_place(node.types[0].shape, [&](const Axes& outer) {
      const std::int64_t x_start = position_of(outer, lhs_outer);
      const std::int64_t y_start = position_of(outer, rhs_outer);
      Sum sum{0};
      for_each_place(inner, [&](const Axes& place) {
        const Sum a = x[static_cast<std::size_t>(x_start + position_of(place, lhs_inner))];
        const Sum b = y[static_cast<std::size_t>(y_start + position_of(place, rhs_inner))];
        sum = sum_of(sum, product_of(a, b));
      });
      result[next++] = convert_scalar<T>(sum);
    });
    return std::move(result).finish();
  });
}

}  // namespace anabranch
