// Running combinations along an axis: each element with all that are before it.
//
// `axis` is one axis, or nothing for all elements in row-major order, as one axis. In `reverse`,
// each element is combined with all behind it instead. The order of additions depends on shapes
// alone.
#pragma once

#include <source_location>

#include "anabranch/control_flow.h"
#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// Running sums. As in `sum`, i8, i16, i32 and bool become i64, u8, u16 and u32 become u64; f16 and
/// bf16 are summed in f32. Complex numbers are summed as they are.
Array cumsum(const Operand& x, const Axes& axis = {}, bool reverse = false);
/// Running products; dtypes as of `cumsum`.
Array cumprod(const Operand& x, const Axes& axis = {}, bool reverse = false);
/// The greatest so far; NaN from the first NaN on.
Array cummax(const Operand& x, const Axes& axis = {}, bool reverse = false);
/// The least so far; NaN from the first NaN on.
Array cummin(const Operand& x, const Axes& axis = {}, bool reverse = false);
/// log(cumsum(exp(x))) without overflow, of floats. Computed in f32 for f16 and bf16.
Array logcumsumexp(const Operand& x, const Axes& axis = {}, bool reverse = false);

namespace detail {
struct AssociativeScan {
  SourceLocation where;
  Tree xs;
  Axis axis = 0;
  bool reverse = false;
  AnyFunction<Tree(const Leaves& first, const Leaves& second)> combine = {};
};
Leaves run_associative_scan(const AssociativeScan& scan);
}  // namespace detail

/// Running combinations of a tree of arrays of one size along an axis, by any associative function:
/// `combine(first, second)` takes two trees like xs, of fewer elements along the axis, and combines
/// them place by place. `first` is what comes before in the order of the scan: in `reverse`, which
/// goes from the last element to the first, what is behind. In 2 log2(n) steps over all elements
/// (Blelloch, "Prefix sums and their applications", 1990), as jax.lax.associative_scan. Throws
/// Error where sizes differ or combine changes a type.
template <class Combine, class Xs>
Xs associative_scan(const Combine& combine, const Xs& xs, Axis axis = 0, bool reverse = false,
                    std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Xs>());
  detail::AssociativeScan scan{where, detail::taken_apart(xs, "xs"), axis, reverse};
  scan.combine = [&](const detail::Leaves& first, const detail::Leaves& second) {
    const Xs a = detail::put_together(xs, first), b = detail::put_together(xs, second);
    return detail::next_carry<Xs>(std::apply(combine, std::tie(a, b)), "xs");
  };
  return detail::put_together(xs, detail::run_associative_scan(scan));
}

struct AssociativeScanOptions {
  Axis axis = 0;
  bool reverse = false;
};
/// The same with its options by name: associative_scan(combine, xs, {.axis = 1, .reverse = true}).
template <class Combine, class Xs>
Xs associative_scan(const Combine& combine, const Xs& xs, const AssociativeScanOptions& options,
                    std::source_location where = std::source_location::current()) {
  return associative_scan(combine, xs, options.axis, options.reverse, where);
}

}  // namespace anabranch
