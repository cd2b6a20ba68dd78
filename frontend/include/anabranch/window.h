// Reductions by a function of the user's, over axes or over windows.
//
//   auto sums = ab::reduce_window({x}, {0.0f}, add, {1, 3}, {.strides = {1, 2}});
//
// A body takes 2n scalars, what is so far of n arrays and then the next element of each, and gives
// n scalars. It has to be associative, with `initial` as what changes nothing; it is traced once,
// and may read other arrays. These are StableHLO's operations of the same names
// (https://openxla.org/stablehlo/spec).
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"
#include "anabranch/sort.h"

namespace ANABRANCH_API anabranch {

using ScalarBody = detail::AnyFunction<std::vector<Array>(const std::vector<Array>& scalars)>;

/// n arrays of one shape, combined over axes by the body, beginning with n scalars of the same
/// dtypes. A body of one add, multiply, maximum, minimum, and, or is the named reduction. Throws
/// Error where shapes or dtypes do not fit.
std::vector<Array> reduce(const Operands& arrays, const Operands& initial, const ScalarBody& body,
                          const Axes& axes = {});

/// One entry per axis, or none for the usual.
struct WindowOptions {
  std::vector<std::int64_t> strides = {};           ///< from one window to the next; 1
  std::vector<std::int64_t> base_dilations = {};    ///< from one element to the next; 1
  std::vector<std::int64_t> window_dilations = {};  ///< between the places of a window; 1
  std::vector<std::int64_t> padding_low = {};       ///< `initial` before the elements; 0
  std::vector<std::int64_t> padding_high = {};      ///< and behind them; negative ones crop
};

/// The same over windows of `sizes` elements, one size per axis, of the arrays padded with
/// `initial`. A window over all that is before each element is a running sum, and computed as such.
std::vector<Array> reduce_window(const Operands& arrays, const Operands& initial,
                                 const ScalarBody& body, const Sizes& sizes,
                                 const WindowOptions& options = {});

/// Of each window of x, `select` chooses one element (the scalars are one chosen so far and another
/// one; true keeps the first), and `scatter`, of two scalars, combines the window's element of
/// `source` into the place where it came from. Places that are never chosen are `initial`, and the
/// others begin with it. Padding is never chosen. No base or window dilations. `source` has one
/// element per window. The shape and dtype of x.
Array select_and_scatter(const Operand& x, const Operand& source, const Operand& initial,
                         const Comparator& select, const ScalarBody& scatter, const Sizes& sizes,
                         const WindowOptions& options = {});

/// What `body`, of n scalars, gives for the elements of n arrays of one shape, place by place.
std::vector<Array> map_elements(const Operands& arrays, const ScalarBody& body);

}  // namespace anabranch
