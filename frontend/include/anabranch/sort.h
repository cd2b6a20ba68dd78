// Sorting: values, positions, and several arrays at once by any comparator.
//
//   auto [values, indices] = ab::top_k(scores, 5);
//   auto both = ab::sort({keys, payload}, [](const std::vector<ab::Array>& s) { return s[0] < s[1];
//   });
//
// Ascending order puts NaNs, whatever their sign, behind all else; -0 and 0 are equal. Elements
// that are equal keep their order, also where it is descending. Complex numbers go by their real
// parts, and by their imaginary parts where those are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

struct SortOptions {
  bool descending = false;  ///< NaNs first
  bool stable = true;       ///< sorts are stable in any case
};

/// The elements of x in order along an axis.
Array sort(const Operand& x, Axis axis = -1, const SortOptions& options = {});
/// Where each element of `sort(x, axis, options)` is in x, as i64.
Array argsort(const Operand& x, Axis axis = -1, const SortOptions& options = {});

/// Values, and where along the axis they are.
struct Ranked {
  Array values, indices;
};
/// The k greatest elements along an axis, the greatest first (NaN before all), of equal ones the
/// first; indices are i64. Throws Error where the axis is shorter than k.
Ranked top_k(const Operand& x, std::int64_t k, Axis axis = -1);

/// Whether the first of two places comes before the second: the scalars of 2n are the elements of
/// the n arrays at the two places, in StableHLO's order: those of array 0 at the first and second
/// place, those of array 1, and so on. Gives a bool scalar. It is traced once, and may read other
/// arrays.
using Comparator = detail::AnyFunction<Array(const std::vector<Array>& scalars)>;

/// Arrays of one shape, with their elements along an axis put in the order of the comparator, alike
/// in all; a stable sort. A comparator that compares keys (`f(a) < f(b)` for any f, or one key
/// after the other where the ones before are equal) becomes sorts of those keys; any other one a
/// bitonic network. Where it is no order, the result is some permutation. Throws Error where shapes
/// differ or the comparator gives no bool.
std::vector<Array> sort(const Operands& arrays, const Comparator& comparator, Axis axis = -1,
                        bool stable = true);

enum class Side : std::uint8_t { left, right };
/// Where each value would be inserted into `sorted`, an ascending vector, for it to stay in order:
/// before elements that are equal (left) or behind them; as i64, of the shape of `values`.
Array searchsorted(const Operand& sorted, const Operand& values, Side side = Side::left);

}  // namespace anabranch
