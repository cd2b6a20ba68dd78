#include "frontend/stablehlo/narrow.h"

#include <algorithm>
#include <cmath>

#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
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

Array rounded_to_odd(const Site& site, const Array& x) {
  const Shape& shape = type_of(x).shape;
  const SourceLocation at = site.where();
  const auto as = [&](const Term& value, Dtype dtype) {
    return Term(site.record(Op::bitcast_convert, {value}, NoAttributes{}, Type{dtype, shape}), at);
  };
  const Term one(site.repeated(site.scalar(1, i32), shape), at);
  const Term wide(x, at), nearest = converted(wide, f32), found = converted(nearest, f64);
  const Term bits = as(nearest, i32);
  const Term odd = where(abs(found) > abs(wide), bits - one, bits) | one;
  const Term is_inexact = (found < wide) | (found > wide);
  return as(where(is_inexact, odd, bits), f32);
}

Array narrowed(const Site& site, const Array& array, const NarrowFormat& format) {
  const Term x(array, site.where());
  if (!is_float(format.carrier)) return narrowed_integer(site, x, format);
  return is_scale(format) ? narrowed_scale(site, x) : narrowed_float(site, x, format);
}

}  // namespace anabranch::stablehlo
