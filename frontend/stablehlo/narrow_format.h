// Element types of fewer than 8 bits, and floats of 8: carried in a wider dtype, rounded after each
// operation.
#pragma once

#include <cstdint>
#include <string_view>

#include "anabranch/dtype.h"

namespace anabranch::stablehlo {

/// What becomes of numbers beyond the greatest, infinities included.
enum class Beyond : std::uint8_t { infinite, not_a_number, greatest };

/// One element type. Integers wrap; floats are rounded to the nearest, ties to even, denormals
/// included (OCP 8-bit and microscaling formats, and LLVM's APFloat for the others).
struct NarrowFormat {
  std::string_view element;  ///< "i4", "f8E4M3FN"
  Dtype carrier;
  int bits;
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;  ///< of floats
  double greatest = 0;
  Beyond beyond = Beyond::infinite;
  bool has_negative_zero = true;
};

/// Whether it holds powers of two alone, no sign and no zero: f8E8M0FNU.
inline bool is_scale(const NarrowFormat& format) { return format.mantissa_bits == 0; }
/// The exponent of the least normal number.
inline int least_exponent(const NarrowFormat& format) { return 1 - format.bias; }
/// What a number beyond the greatest becomes.
double beyond_all(const NarrowFormat& format);

/// The format of that name, unless a dtype is called so; null for any other name.
const NarrowFormat* narrow_format(std::string_view element);

/// The number of the format that is nearest to a float.
double nearest_in(const NarrowFormat& format, double value);
/// The number whose bits these are.
double number_of_bits(const NarrowFormat& format, std::uint64_t bits);

}  // namespace anabranch::stablehlo
