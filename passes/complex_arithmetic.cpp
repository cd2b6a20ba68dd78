// Sizes, quotients, roots, exponentials and logarithms of complex numbers.
#include <cmath>
#include <limits>
#include <numbers>

#include "passes/complex_functions.h"

namespace anabranch::complex_functions {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double long_exponent = 700;  // e to it is still finite

Part either_infinite(const Parts& z) { return is_infinite(z.re) | is_infinite(z.im); }

// A power of two that brings a number of this size away from both ends of f64.
Part scale_for(Part size, double small, double large) {
  return select(size > 0x1p1000, large, select(size < 0x1p-900, small, size.number(1)));
}

// The upper 26 bits of a significand, to the nearest, and what is left: products of such are exact.
struct Halves {
  Part high, low;
};
Halves halves_of(Part x) {
  const Shape shape = x.graph->type(x.value).shape;
  const auto bits = [&](std::uint64_t number) {
    return Part{x.graph, x.graph->splat(Literal::scalar(u64, ElementBits(number)), shape)};
  };
  const Part high =
      ((x.bits_as(u64) + bits(0x4000000)) & bits(~std::uint64_t{0x7ffffff})).bits_as(f64);
  return {high, x - high};
}

// m^2 + n^2 - 1 where that is little: products are exact, and what cancels does so first.
Part distance_from_one(Part m, Part n, bool narrow) {
  if (narrow) return (m - 1) * (m + 1) + n * n;
  const Halves a = halves_of(m), b = halves_of(n);
  const Part upper = (a.high * a.high - 1) + b.high * b.high;
  const Part middle = 2 * (a.high * a.low + b.high * b.low);
  return upper + (middle + (a.low * a.low + b.low * b.low));
}

// log |z|.
Part log_of_size(const Parts& z, bool narrow) {
  const Part x = abs(z.re), y = abs(z.im), m = max(x, y), n = min(x, y);
  const Part square = m * m + n * n;
  const Part near_one = (square > 0.5) & (square < 3);
  const Part close = 0.5 * log1p(distance_from_one(m, n, narrow));
  Part far = 0.5 * log(square);
  if (!narrow) {
    const Part ratio = select((m == 0) | is_infinite(m), 0, n / m);
    far = log(m) + 0.5 * log1p(ratio * ratio);
  }
  return select(either_infinite(z), infinity, select(near_one, close, far));
}

// Of a quotient that came out as NaN in both parts, what its infinities or zeros say (G.5.1).
Parts recovered(const Parts& x, const Parts& y, const Parts& plain) {
  const auto unit = [](Part part) {
    return with_sign_of(select(is_infinite(part), 1, part.number(0)), part);
  };
  const auto products = [](const Parts& a, const Parts& b) {
    return Parts{a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
  };
  const Part lost = is_nan(plain.re) & is_nan(plain.im);
  const Part by_zero = (y.re == 0) & (y.im == 0) & !(is_nan(x.re) & is_nan(x.im));
  const Part pole = with_sign_of(y.re.number(infinity), y.re);
  const Part from_infinity = either_infinite(x) & is_finite(y.re) & is_finite(y.im);
  const Part by_infinity = either_infinite(y) & is_finite(x.re) & is_finite(x.im);
  const Parts great = products({unit(x.re), unit(x.im)}, y);
  const Parts small = products(x, {unit(y.re), unit(y.im)});
  Parts made = select(lost & by_infinity, Parts{0.0 * small.re, 0.0 * small.im}, plain);
  made = select(lost & from_infinity, Parts{infinity * great.re, infinity * great.im}, made);
  return select(lost & by_zero, Parts{pole * x.re, pole * x.im}, made);
}

// R. Smith, "Algorithm 116: Complex division", CACM 5(8), 1962, with both scaled where the ends of
// the range are near.
Parts quotient_by_ratio(const Parts& x, const Parts& y) {
  const Part x_scale = scale_for(max(abs(x.re), abs(x.im)), 0x1p100, 0x1p-10);
  const Part y_scale = scale_for(max(abs(y.re), abs(y.im)), 0x1p100, 0x1p-10);
  const Parts over = {x.re * x_scale, x.im * x_scale}, under = {y.re * y_scale, y.im * y_scale};
  const Part turned = abs(under.re) < abs(under.im);
  const Part longer = select(turned, under.im, under.re);
  const Part shorter = select(turned, under.re, under.im);
  const Part a = select(turned, over.im, over.re), b = select(turned, over.re, over.im);
  const Part ratio = shorter / longer, divisor = longer + shorter * ratio;
  const Part back = y_scale / x_scale, im = (b - a * ratio) / divisor;
  return {(a + b * ratio) / divisor * back, select(turned, -im, im) * back};
}

// e^x in two factors, so that what is between them may keep the whole from overflowing.
struct Factors {
  Part first, second;
};
Factors exponential_factors(Part x, bool narrow) {
  if (narrow) return {exp(x), x.number(1)};
  const Part is_long = x > long_exponent, first = exp(select(is_long, x * 0.5, x));
  return {first, select(is_long, first, x.number(1))};
}

}  // namespace

Part absolute(const Parts& z, bool narrow) {
  const Part x = abs(z.re), y = abs(z.im);
  if (narrow) return select(either_infinite(z), infinity, sqrt(x * x + y * y));
  const Part longer = max(x, y), ratio = min(x, y) / longer;
  const Part size = select(longer == 0, 0, longer * sqrt(1 + ratio * ratio));
  return select(either_infinite(z), infinity, size);
}

Parts divide(const Parts& x, const Parts& y, bool narrow) {
  if (!narrow) return recovered(x, y, quotient_by_ratio(x, y));
  const Part square = y.re * y.re + y.im * y.im;
  return recovered(x, y,
                   {(x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square});
}

Parts sign(const Parts& z, bool narrow) {
  Parts scaled = z;
  if (!narrow) {
    const Part scale = scale_for(max(abs(z.re), abs(z.im)), 0x1p100, 0x1p-10);
    scaled = {z.re * scale, z.im * scale};
  }
  const Part size = absolute(scaled, narrow), is_zero = (z.re == 0) & (z.im == 0);
  return select(is_zero, z, Parts{scaled.re / size, scaled.im / size});
}

Parts square_root(const Parts& z, bool narrow) {
  Part x = z.re, y = z.im, back = x.number(1);
  if (!narrow) {
    const Part size = max(abs(x), abs(y)), scale = scale_for(size, 0x1p120, 0x1p-4);
    back = scale_for(size, 0x1p-60, 0x1p2);
    x = x * scale, y = y * scale;
  }
  const Part size = absolute({x, y}, narrow), longer = sqrt((size + abs(x)) * 0.5);
  const Part shorter = y / (2 * longer), is_right = x >= 0;
  const Part is_zero = size == 0, is_far = is_infinite(y);
  const Parts made = {select(is_right, longer, abs(shorter)),
                      select(is_right, shorter, with_sign_of(longer, y))};
  return {select(is_far, infinity, select(is_zero, 0, made.re * back)),
          select(is_zero | is_far, z.im, made.im * back)};
}

Parts reciprocal_square_root(const Parts& z, bool narrow) {
  return divide({z.re.number(1), z.re.number(0)}, square_root(z, narrow), narrow);
}

Parts exponential(const Parts& z, bool narrow) {
  const auto [first, second] = exponential_factors(z.re, narrow);
  const Part no_angle = !is_finite(z.im);
  const Part vanishes = no_angle & (z.re == -infinity), grows = no_angle & (z.re == infinity);
  const Part re = first * cos(z.im) * second, im = first * sin(z.im) * second;
  return {select(vanishes, 0, select(grows, infinity, re)),
          select(vanishes, 0, select(z.im == 0, z.im, im))};
}

Parts exponential_minus_one(const Parts& z, bool narrow) {
  const Parts whole = exponential(z, narrow);
  const Part half = sin(z.im * 0.5), re = expm1(z.re) * cos(z.im) - 2 * (half * half);
  const Part vanishes = (!is_finite(z.im)) & (z.re == -infinity);
  return {select(vanishes, -1, select(z.re > long_exponent, whole.re, re)), whole.im};
}

Parts logarithm(const Parts& z, bool narrow) { return {log_of_size(z, narrow), atan2(z.im, z.re)}; }

Parts log_plus_one(const Parts& z, bool narrow) {
  const Part is_small = (abs(z.re) < 0.5) & (abs(z.im) < 0.5), next = z.re + 1;
  const Part near = 0.5 * log1p(z.re * (z.re + 2) + z.im * z.im);
  return {select(is_small, near, log_of_size({next, z.im}, narrow)), atan2(z.im, next)};
}

// By way of e^z on the left and e^-z on the right: neither overflows. The poles are on the
// imaginary axis, near which the hyperbolic tangent of z / 2 keeps its digits.
Parts logistic(const Parts& z, bool narrow) {
  const Part is_right = z.re >= 0;
  const Parts small = exponential({-abs(z.re), select(is_right, -z.im, z.im)}, narrow);
  const Parts over = {select(is_right, 1, small.re), select(is_right, 0, small.im)};
  const Parts far = divide(over, {1 + small.re, small.im}, true);
  const Parts near = hyperbolic_tangent({z.re * 0.5, z.im * 0.5}, narrow);
  return select(abs(z.re) < 1, Parts{0.5 + 0.5 * near.re, 0.5 * near.im}, far);
}

Parts power(const Parts& x, const Parts& y, bool narrow) {
  const Parts log = logarithm(x, narrow);
  const Parts made =
      exponential({y.re * log.re - y.im * log.im, y.re * log.im + y.im * log.re}, false);
  const Part of_zero = (x.re == 0) & (x.im == 0), to_zero = (y.re == 0) & (y.im == 0);
  const Part zero_or_nan = select(y.re > 0, 0, y.re.number(nan));
  return {select(to_zero, 1, select(of_zero, zero_or_nan, made.re)),
          select(to_zero, 0, select(of_zero, zero_or_nan, made.im))};
}

}  // namespace anabranch::complex_functions
