// Circular and hyperbolic functions of complex numbers, and their inverses.
#include <cmath>
#include <limits>
#include <numbers>

#include "passes/complex_functions.h"

namespace anabranch::complex_functions {
namespace {

constexpr double boundless = std::numeric_limits<double>::infinity();
constexpr double half_pi = std::numbers::pi / 2;
constexpr double far_away = 0x1p500;  // 1 more or less does not matter, and squares overflow soon
constexpr double close_by = 0x1p-500;

Parts times_i(const Parts& z) { return {-z.im, z.re}; }
Parts times_minus_i(const Parts& z) { return {z.im, -z.re}; }

// sinh and cosh of x, both divided by `scale` so that they do not overflow before a product does.
struct Hyperbolic {
  Part sine, cosine, scale;
};
Hyperbolic hyperbolic(Part x, bool narrow) {
  if (narrow) return {sinh(x), cosh(x), x.number(1)};
  const Part is_long = abs(x) > 700, root = exp(abs(x) * 0.5);
  return {select(is_long, with_sign_of(root, x), sinh(x)), select(is_long, root, cosh(x)),
          select(is_long, root * 0.5, x.number(1))};
}

// What the inverse sine and cosine of x + yi, x and y not negative, have in common.
struct Triangle {
  Part x, y, a, b;      // half the sum of the distances from 1 and from -1, and x over it
  Part shorter;         // sqrt(a^2 - x^2), for x up to 1; over y for greater ones
  Part is_right;        // whether x is above 1
  Part is_far, height;  // the imaginary part of either, without its sign
};

Part log_from_afar(Part x, Part y) {
  const Part m = max(x, y), ratio = select(is_infinite(m), 0, min(x, y) / m);
  const Part size = log(m) + 0.5 * log1p(ratio * ratio) + std::numbers::ln2;
  return select(is_infinite(x) | is_infinite(y), boundless, size);
}

Triangle triangle(const Parts& z, bool narrow) {
  const Part x = abs(z.re), y = abs(z.im), square = y * y;
  const Part r = absolute({x + 1, y}, narrow), s = absolute({x - 1, y}, narrow);
  const Part a = (r + s) * 0.5, from_r = r + (x + 1), from_s = s + (1 - x), beyond = s + (x - 1);
  const Part is_right = x > 1, sum = a + x;
  const Part within = sqrt(0.5 * sum * (square / from_r + from_s));
  const Part outside = sqrt(0.5 * (sum / from_r + sum / beyond));
  // a - 1, from terms that do not cancel.
  const Part rest = select(x < 1, square / from_s, beyond);
  const Part above = 0.5 * (square / from_r + rest);
  const Part is_near = a <= 1.5;
  Part height = select(is_near, log1p(above + sqrt(above * (a + 1))), log(a + sqrt(a * a - 1)));
  Part is_far = is_infinite(x) | is_infinite(y);
  if (narrow) {
    height = select(is_far, boundless, height);
  } else {
    const Part is_flat = (y < close_by) & (x < 1);
    height = select(is_flat, y / sqrt((1 - x) * (1 + x)), height);
    is_far = (x > far_away) | (y > far_away);
    height = select(is_far, log_from_afar(x, y), height);
  }
  return {x, y, a, x / a, select(is_right, outside, within), is_right, is_far, height};
}

constexpr double crossover = 0.6417;  // above it asin and acos of b would lose digits

}  // namespace

Parts hyperbolic_sine(const Parts& z, bool narrow) {
  const auto [sine, cosine, scale] = hyperbolic(z.re, narrow);
  const Part grows = is_infinite(z.re) & !is_finite(z.im);
  const Part re = sine * cos(z.im) * scale, im = cosine * sin(z.im) * scale;
  const Part keeps = grows | ((z.re == 0) & !is_finite(z.im));
  return {select(keeps, z.re, re), select(z.im == 0, z.im, im)};
}

Parts hyperbolic_cosine(const Parts& z, bool narrow) {
  const auto [sine, cosine, scale] = hyperbolic(z.re, narrow);
  const Part grows = is_infinite(z.re) & !is_finite(z.im);
  const Part re = cosine * cos(z.im) * scale, im = sine * sin(z.im) * scale;
  const Part zero = select(z.im == 0, times_sign_of(z.im, z.re), times_sign_of(z.re, z.im));
  const Part is_zero = (z.im == 0) | ((z.re == 0) & !is_finite(z.im));
  return {select(grows, boundless, re), select(is_zero, zero, im)};
}

// Kahan, section 8; beyond 22 the real part is 1 in f64.
Parts hyperbolic_tangent(const Parts& z, bool) {
  const Part t = tan(z.im), beta = 1 + t * t, s = sinh(z.re);
  const Part rho = sqrt(1 + s * s), divisor = 1 + beta * (s * s);
  const Part is_far = abs(z.re) > 22;
  const Part tail = 4 * (sin(z.im) * cos(z.im)) * exp(-2 * abs(z.re));
  const Part far_im = select(is_infinite(z.re) & !is_finite(z.im), 0, tail);
  const Part far_re = with_sign_of(s.number(1), z.re) + 0.0 * far_im;  // NaN with it
  const Part re = select(is_far, far_re, beta * (rho * s) / divisor);
  const Part im = select(is_far, far_im, t / divisor);
  return {select(z.re == 0, z.re, re), select(z.im == 0, z.im, im)};
}

Parts sine(const Parts& z, bool narrow) {
  return times_minus_i(hyperbolic_sine(times_i(z), narrow));
}
Parts cosine(const Parts& z, bool narrow) { return hyperbolic_cosine(times_i(z), narrow); }
Parts tangent(const Parts& z, bool narrow) {
  return times_minus_i(hyperbolic_tangent(times_i(z), narrow));
}

Parts arc_sine(const Parts& z, bool narrow) {
  const Triangle t = triangle(z, narrow);
  const Part steep = atan2(t.x, select(t.is_right, t.y * t.shorter, t.shorter));
  Part angle = select(t.b <= crossover, asin(t.b), steep);
  angle = select(t.is_far, atan2(t.x, t.y), angle);
  angle = select(t.x == 0, 0, angle);
  return {with_sign_of(angle, z.re), with_sign_of(t.height, z.im)};
}

Parts arc_cosine(const Parts& z, bool narrow) {
  const Triangle t = triangle(z, narrow);
  const Part steep = atan2(select(t.is_right, t.y * t.shorter, t.shorter), t.x);
  Part angle = select(t.b <= crossover, acos(t.b), steep);
  angle = select(t.is_far, atan2(t.y, t.x), angle);
  angle = select(t.x == 0, half_pi, angle);
  return {select(z.re < 0, std::numbers::pi - angle, angle), with_sign_of(t.height, -z.im)};
}

Parts inverse_hyperbolic_tangent(const Parts& z, bool narrow) {
  const Part x = abs(z.re), y = abs(z.im), left = 1 - x, square = y * y;
  Part re = 0.25 * log1p(4 * x / (left * left + square));
  Part im = 0.5 * atan2(2 * y, left * (1 + x) - square);
  Part is_far = is_infinite(x) | is_infinite(y);
  if (!narrow) {
    const Part at_pole = (x == 1) & (y < close_by);
    re = select(at_pole, 0.5 * (std::numbers::ln2 - log(y)), re);
    is_far = (x > far_away) | (y > far_away);
    const Part m = max(x, y), p = x / m, q = y / m;
    re = select(is_far, p / (p * p + q * q) / m, re);
  }
  re = select((x == 0) | is_infinite(x) | is_infinite(y), 0, re);
  im = select(is_far & !(is_nan(y) | (is_nan(x) & !is_infinite(y))), half_pi, im);
  return {with_sign_of(re, z.re), with_sign_of(im, z.im)};
}

Parts inverse_hyperbolic_sine(const Parts& z, bool narrow) {
  return times_minus_i(arc_sine(times_i(z), narrow));
}
Parts inverse_hyperbolic_cosine(const Parts& z, bool narrow) {
  const Parts made = arc_cosine(z, narrow);
  return {abs(made.im), with_sign_of(made.re, z.im)};
}
Parts arc_tangent(const Parts& z, bool narrow) {
  return times_minus_i(inverse_hyperbolic_tangent(times_i(z), narrow));
}

}  // namespace anabranch::complex_functions
