// Functions that move elements and compute nothing: they become index maps of the kernels that read
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// The same elements, in row-major order, under other sizes; one size may be -1: what remains.
Array reshape(const Operand& x, const Sizes& sizes);
/// All elements in row-major order along one axis.
Array ravel(const Operand& x);
/// Repeated to `sizes` by NumPy's rule: each own size, from the right, is equal or 1.
Array broadcast_to(const Operand& x, const Sizes& sizes);
/// Result axis i is axis axes[i] of x.
Array permute_dims(const Operand& x, const Axes& axes);
/// The last two axes exchanged.
Array matrix_transpose(const Operand& x);
/// A new axis of size 1, at that place of the result.
Array expand_dims(const Operand& x, Axis axis);
/// Without the given axes of size 1, or without all of them.
Array squeeze(const Operand& x, const Axes& axes = {});
/// The order along the axes turned round.
Array flip(const Operand& x, const Axes& axes = {});
/// The arrays one after the other along an axis; dtypes are promoted.
Array concat(const Operands& arrays, Axis axis = 0);
/// Arrays of one shape side by side along a new axis.
Array stack(const Operands& arrays, Axis axis = 0);
/// All windows of these sizes along the axes (all, if none are given; else one size for each): an
/// axis of n elements and a size of k become n - k + 1 windows, and the places in a window are new
/// axes at the end, in the order of `axes`. Windows that do not fit are none. Error for a size
/// below 1.
Array sliding_window_view(const Operand& x, const Sizes& sizes, const Axes& axes = {});
/// `value` around the elements: low[i] before and high[i] after on axis i; negative numbers crop.
Array pad(const Operand& x, const Sizes& low, const Sizes& high, const Operand& value = 0);
/// Elements start, start + stride, ... below limit on each axis; strides are 1 where none are
/// given.
Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides = {});
/// The elements at position `index` of an axis, which goes; negative positions count from the end.
Array index(const Operand& x, std::int64_t index, Axis axis = 0);

}  // namespace anabranch
