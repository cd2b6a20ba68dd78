// Functions that fold axes away: sums, extremes, averages, positions.
//
// `axes` is one axis, a list, or nothing for all; with `keepdims` the folded axes stay with size 1.
//
// Sums and products of integers smaller than the default integer, i64, widen as the Python Array
// API standard asks: i8, i16, i32 and bool to i64; u8, u16 and u32 to u64. Floats keep their dtype;
// what takes several steps computes f16 and bf16 in f32 and rounds the result alone.
#pragma once

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// For the last argument of a reduction: sum(x, 1, keepdims); sum(x, {}, keepdims) of all axes.
inline constexpr bool keepdims = true;

/// The sum, 0 of no elements, as i64 or u64 of integers and bools. f16 and bf16 are summed in f32.
Array sum(const Operand& x, const Axes& axes = {}, bool keep = false);
/// The product, 1 of no elements; dtypes as of `sum`.
Array prod(const Operand& x, const Axes& axes = {}, bool keep = false);
Array max(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< Error over no elements
Array min(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< Error over no elements
Array any(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< of bools; false if none
Array all(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< of bools; true if none

/// The sum of floats divided by their count; NaN of no elements. Computed in f32 for f16 and bf16.
Array mean(const Operand& x, const Axes& axes = {}, bool keep = false);
/// How many elements are not zero, as i64.
Array count_nonzero(const Operand& x, const Axes& axes = {}, bool keep = false);

/// The mean squared distance from the mean; the sum is divided by the count less `correction`.
/// Computed in f32 for f16 and bf16.
Array var(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// The standard deviation: the square root of `var`. Computed in f32 for f16 and bf16.
Array stddev(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// The Euclidean length: sqrt(sum(x^2)), of floats. Computed in f32 for f16 and bf16.
Array norm(const Operand& x, const Axes& axes = {}, bool keep = false);
/// log(sum(exp(x))) without overflow, of floats; Error over no elements. Computed in f32 for f16
/// and bf16.
Array logsumexp(const Operand& x, const Axes& axes = {}, bool keep = false);

/// Where the first greatest element (or NaN) is, as i64: along one axis, or in row-major order
/// where no axis is given. Error over no elements.
Array argmax(const Operand& x, const Axes& axis = {}, bool keep = false);
/// Where the first least element (or NaN) is; see `argmax`.
Array argmin(const Operand& x, const Axes& axis = {}, bool keep = false);

}  // namespace anabranch
