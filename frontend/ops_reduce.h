// Functions that fold axes away: sums, extremes, averages, positions.
//
// `axes` is one axis, a list, or nothing for all; with `keepdims` the folded axes stay with size 1.
#pragma once

#include "frontend/operand.h"
#include "frontend/sizes.h"

namespace anabranch {

/// For the last argument of a reduction: sum(x, 1, keepdims).
inline constexpr bool keepdims = true;

Array sum(const Operand& x, const Axes& axes = {},
          bool keep = false);  ///< 0 if none; bools count as i64
Array prod(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< the product; 1 if none
Array max(const Operand& x, const Axes& axes = {}, bool keep = false);   ///< Error over no elements
Array min(const Operand& x, const Axes& axes = {}, bool keep = false);   ///< Error over no elements
Array any(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< of bools; false if none
Array all(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< of bools; true if none
Array mean(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< of floats; NaN if none

/// How many elements are not zero, as i64.
Array count_nonzero(const Operand& x, const Axes& axes = {}, bool keep = false);

/// The mean squared distance from the mean; the sum is divided by the count less `correction`.
Array var(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// The standard deviation: the square root of `var`.
Array stddev(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// The Euclidean length: sqrt(sum(x^2)), of floats.
Array norm(const Operand& x, const Axes& axes = {}, bool keep = false);
/// log(sum(exp(x))) without overflow, of floats; Error over no elements.
Array logsumexp(const Operand& x, const Axes& axes = {}, bool keep = false);

/// Where the first greatest element (or NaN) lies, as i64: along one axis, or in row-major order
/// where no axis is given. Error over no elements.
Array argmax(const Operand& x, const Axes& axis = {}, bool keep = false);
/// Where the first least element (or NaN) lies; see `argmax`.
Array argmin(const Operand& x, const Axes& axis = {}, bool keep = false);

}  // namespace anabranch
