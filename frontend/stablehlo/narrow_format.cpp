#include "frontend/stablehlo/narrow_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "anabranch/dtype.h"

namespace anabranch::stablehlo {
namespace {

constexpr double unbounded = 0x1p127;

constexpr NarrowFormat formats[] = {
    {"i2", i8, 2},
    {"i4", i8, 4},
    {"ui2", u8, 2},
    {"ui4", u8, 4},
    {"f4E2M1FN", f32, 4, 2, 1, 1, 6, Beyond::greatest},
    {"f6E2M3FN", f32, 6, 2, 3, 1, 7.5, Beyond::greatest},
    {"f6E3M2FN", f32, 6, 3, 2, 3, 28, Beyond::greatest},
    {"f8E3M4", f32, 8, 3, 4, 3, 15.5, Beyond::infinite},
    {"f8E4M3", f32, 8, 4, 3, 7, 240, Beyond::infinite},
    {"f8E4M3FN", f32, 8, 4, 3, 7, 448, Beyond::not_a_number},
    {"f8E4M3FNUZ", f32, 8, 4, 3, 8, 240, Beyond::not_a_number, false},
    {"f8E4M3B11FNUZ", f32, 8, 4, 3, 11, 30, Beyond::not_a_number, false},
    {"f8E5M2", f32, 8, 5, 2, 15, 57344, Beyond::infinite},
    {"f8E5M2FNUZ", f32, 8, 5, 2, 16, 57344, Beyond::not_a_number, false},
    {"f8E8M0FNU", f32, 8, 8, 0, 127, unbounded, Beyond::not_a_number},
};

double to_even(double value) {
  const double below = std::floor(value), rest = value - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

}  // namespace

double beyond_all(const NarrowFormat& format) {
  switch (format.beyond) {
    case Beyond::infinite:
      return std::numeric_limits<double>::infinity();
    case Beyond::not_a_number:
      return std::numeric_limits<double>::quiet_NaN();
    case Beyond::greatest:
      break;
  }
  return format.greatest;
}

const NarrowFormat* narrow_format(std::string_view element) {
  for (const NarrowFormat& format : formats) {
    if (format.element == element && !parse_dtype(element)) return &format;
  }
  return nullptr;
}

double nearest_in(const NarrowFormat& format, double value) {
  if (std::isnan(value)) return value;
  const double magnitude = std::fabs(value);
  if (is_scale(format) && (value < 0 || magnitude == 0)) {
    return value < 0 ? std::numeric_limits<double>::quiet_NaN() : 0x1p-127;
  }
  double rounded = magnitude;
  if (std::isfinite(magnitude) && magnitude != 0) {
    const int exponent = std::max(std::ilogb(magnitude), least_exponent(format));
    const double quantum = std::ldexp(1.0, exponent - format.mantissa_bits);
    rounded = to_even(magnitude / quantum) * quantum;
  }
  if (rounded > format.greatest) rounded = beyond_all(format);
  if (rounded == 0 && !format.has_negative_zero) return 0;
  return std::copysign(rounded, value);
}

double number_of_bits(const NarrowFormat& format, std::uint64_t bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (is_scale(format)) return bits == 0xff ? nan : std::ldexp(1.0, static_cast<int>(bits) - 127);
  const std::uint64_t sign_bit = std::uint64_t{1} << (format.bits - 1);
  const bool is_negative = (bits & sign_bit) != 0;
  const std::uint64_t rest = bits & (sign_bit - 1);
  if (!format.has_negative_zero && is_negative && rest == 0) return nan;
  const std::uint64_t mantissa = rest & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(rest >> format.mantissa_bits);
  const double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissa_bits);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, least_exponent(format))
                                         : std::ldexp(1 + fraction, exponent - format.bias);
  if (magnitude <= format.greatest) return is_negative ? -magnitude : magnitude;
  const bool is_infinite = format.beyond == Beyond::infinite && mantissa == 0;
  if (!is_infinite) return nan;
  const double infinity = std::numeric_limits<double>::infinity();
  return is_negative ? -infinity : infinity;
}

}  // namespace anabranch::stablehlo
