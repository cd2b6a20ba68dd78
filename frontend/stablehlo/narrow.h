// Element types of fewer than 8 bits, and floats of 8: carried in a wider dtype, rounded after each
// operation.
#pragma once

#include <cstdint>
#include <string_view>

#include "anabranch/array.h"
#include "anabranch/dtype.h"

namespace anabranch::stablehlo {

class Site;

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

/// The format of that name, unless a dtype is called so; null for any other name.
const NarrowFormat* narrow_format(std::string_view element);

/// The number of the format that is nearest to a float.
double nearest_in(const NarrowFormat& format, double value);
/// The number whose bits these are.
double number_of_bits(const NarrowFormat& format, std::uint64_t bits);

/// Each element of an array of the carrier, as the format holds it.
Array narrowed(const Site& site, const Array& array, const NarrowFormat& format);

}  // namespace anabranch::stablehlo
