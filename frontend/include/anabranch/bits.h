// Functions of the bits of each element: rounding to other formats, neighbours, rotations.
//
// Bitwise logic, shifts and counts are in anabranch/elementwise.h.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {

/// The same bits as another dtype. Where an element of `dtype` is narrower by a factor of k, its k
/// parts become a new last axis, the lowest bits first; where it is wider, the last axis, of size
/// k, goes. A bool is 8 bits, 0 or 1; of 8 bits it is whether any is set. A complex number is its
/// real part, then its imaginary one, and is cut into complex numbers alone. Error for a last axis
/// of another size, for bool and other widths, and for complex numbers and others.
Array bitcast(const Operand& x, Dtype dtype);

/// Floats rounded to what a format of so many exponent and mantissa bits holds, as StableHLO's
/// reduce_precision: the mantissa to the nearest, ties to even; what is too large becomes infinite,
/// what is below the format's least normal number becomes 0 of its sign; NaN stays NaN. More bits
/// than the dtype has change nothing. Error unless there is at least one exponent bit and no
/// negative number of mantissa bits.
Array reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits);

/// The next number of the dtype from x in the direction of y, floats: y itself where they are
/// equal, NaN if either is NaN.
Array nextafter(const Operand& x, const Operand& y);

/// Integers whose bits are moved up by `count`, those pushed out coming in below; a count is taken
/// modulo the width.
Array rotate_left(const Operand& x, const Operand& count);
/// The same, moved down.
Array rotate_right(const Operand& x, const Operand& count);

}  // namespace anabranch
