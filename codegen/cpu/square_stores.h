// Stores whose lanes lie far apart, beside each other: as many as there are lanes, so that what
// they write is a square whose rows are contiguous. It is transposed in registers and written row
// by row.
//
//   for i < 64 vector(16) {
//     store out[i * 4096] = a
//     store out[i * 4096 + 1] = b
//     ...
//     store out[i * 4096 + 15] = p
//   }
#pragma once

#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// The stores of a square, in the order of their places.
using SquareStores = std::vector<Ref>;

/// Whether elements of the dtype can: those of 4 or 8 bytes that are one number.
bool fits_square(Dtype dtype);

/// Those in the body of a vector loop.
std::vector<SquareStores> square_stores(const Kernel& kernel, Ref loop);

}  // namespace anabranch::cpu
