#include "frontend/stablehlo/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/stablehlo/site.h"

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

// Powers of two alone, no sign and no zero: f8E8M0FNU.
bool is_scale(const NarrowFormat& format) { return format.mantissa_bits == 0; }

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

// The exponent of the least normal number.
int least_exponent(const NarrowFormat& format) { return 1 - format.bias; }

double to_even(double value) {
  const double below = std::floor(value), rest = value - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

}  // namespace

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

namespace {

Term narrowed_integer(const Site& site, const Term& x, const NarrowFormat& format) {
  const int unused = 8 - format.bits;
  const Array moved = site.repeated(site.scalar(unused, format.carrier), type_of(x).shape);
  const Term by(moved, site.where());
  return (x << by) >> by;
}

// The bits of a float say the distance between its neighbours in the format.
Term narrowed_float(const Site& site, const Term& x, const NarrowFormat& format) {
  const Type type = type_of(x), word{i32, type.shape};
  const SourceLocation at = site.where();
  const auto number = [&](double value) {
    return Term(site.repeated(site.scalar(value, f32), type.shape), at);
  };
  const auto integer = [&](std::int64_t value) {
    return Term(site.repeated(site.scalar(static_cast<double>(value), i32), type.shape), at);
  };
  const auto as = [&](const Term& value, const Type& other) {
    return Term(site.record(Op::bitcast_convert, {value}, NoAttributes{}, other), at);
  };
  const Term magnitude = abs(x);
  const Term exponent = as(magnitude, word) & integer(0x7f800000);
  const std::int64_t least = std::int64_t{least_exponent(format) + 127} << 23;
  const Term quantum_bits = maximum(exponent, integer(std::max<std::int64_t>(least, 0))) -
                            integer(std::int64_t{format.mantissa_bits} << 23);
  const Term quantum = as(quantum_bits, type);
  const Term count(site.record(Op::round_nearest_even, {magnitude / quantum}), at);
  Term rounded = where(isfinite(x), count * quantum, magnitude);
  rounded = where(rounded > number(format.greatest), number(beyond_all(format)), rounded);
  const Term negative = as(x, word) < integer(0);
  Term result = where(negative, -rounded, rounded);
  if (!format.has_negative_zero) result = where(rounded == number(0), number(0), result);
  return where(x != x, x, result);
}

// To the nearest power of two: half of the way up rounds the exponent up where it is odd.
Term narrowed_scale(const Site& site, const Term& x) {
  const Type type = type_of(x), word{i32, type.shape};
  const SourceLocation at = site.where();
  const auto integer = [&](std::int64_t value) {
    return Term(site.repeated(site.scalar(static_cast<double>(value), i32), type.shape), at);
  };
  const auto number = [&](double value) {
    return Term(site.repeated(site.scalar(value, f32), type.shape), at);
  };
  const Term bits(site.record(Op::bitcast_convert, {x}, NoAttributes{}, word), at);
  const Term odd = (bits >> integer(23)) & integer(1);
  const Term up = bits + integer(0x3fffff) + odd;
  const Term kept = up & integer(0x7f800000);
  const Term power(site.record(Op::bitcast_convert, {kept}, NoAttributes{}, type), at);
  const Term positive = where(x < number(0x1p-126), number(0x1p-127), power);
  const Term in_range = where(isfinite(power), positive, number(std::nan("")));
  return where((x >= number(0)), in_range, number(std::nan("")));
}

}  // namespace

Array narrowed(const Site& site, const Array& array, const NarrowFormat& format) {
  const Term x(array, site.where());
  if (!is_float(format.carrier)) return narrowed_integer(site, x, format);
  return is_scale(format) ? narrowed_scale(site, x) : narrowed_float(site, x, format);
}

}  // namespace anabranch::stablehlo
