// Arc sine, arc cosine and arc tangents. Angles that are subtracted from pi or pi/2 get the rest of
// those constants added first.
#include <numbers>

#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// pi/2 as a sum of two numbers of the format.
constexpr double half_pi = std::numbers::pi / 2;
double half_pi_low(Simd x) { return x.pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54); }

// asin(|x|) where |x| <= 1/2 and, elsewhere, asin(sqrt((1 - |x|) / 2)), half the angle that is left
// to pi/2. NaN for |x| > 1.
struct ArcSine {
  Simd sine, rest, complement;  ///< the angle is sine + rest; the last is a mask
};
ArcSine arc_sine(Simd x) {
  Simd a = abs(x);
  Simd complement = a > 0.5;
  Simd ss = select(complement, fma(a, -0.5, 0.5), a * a);
  Simd s = select(complement, sqrt(ss), a);
  return {s, ss * s * polynomial(ss, coefficients::arc_sine), complement};
}

// atan t for |t| <= 1.
Simd arc_tangent(Simd t) {
  Simd tt = t * t;
  return fma(tt * t, polynomial(tt, coefficients::arc_tangent), t);
}

}  // namespace

Simd asin(Simd x) {
  auto [sine, rest, complement] = arc_sine(x);
  // pi/2 - 2 (sine + rest), in the order that rounds least.
  const double quarter_pi = half_pi / 2;
  Simd other = quarter_pi + (fma(sine, -2, quarter_pi) + fma(rest, -2, half_pi_low(x)));
  return copysign(select(complement, other, sine + rest), x);
}

Simd acos(Simd x) {
  auto [sine, rest, complement] = arc_sine(x);
  Simd angle = sine + rest;
  // pi/2 - asin x; 2 angle for x > 1/2; pi - 2 angle for x < -1/2.
  Simd signed_angle = copysign(angle, x);
  Simd part = select(complement, signed_angle + signed_angle, -signed_angle);
  Simd positive = complement & (x > 0), negative = complement & (x < 0);
  auto base = [&](double quarter) {
    Simd constant = select(positive, 0, x.constant(quarter));
    return select(negative, x.constant(2 * quarter), constant);
  };
  return base(half_pi) + (part + base(half_pi_low(x)));
}

Simd atan(Simd x) {
  Simd a = abs(x);
  Simd steep = a > 1;
  Simd y = arc_tangent(select(steep, -1, a) / select(steep, a, 1));
  return copysign(select(steep, half_pi + (y + half_pi_low(x)), y), x);
}

Simd atan2(Simd y, Simd x) {
  Simd a = abs(y), b = abs(x);
  Simd steep = a > b, leftward = x.bits() < 0;
  Simd small = select(steep, b, a), large = select(steep, a, b);
  Simd quotient = small / large;
  quotient = select(small == large, 1, quotient);  // inf / inf
  quotient = select(large == 0, small, quotient);
  Simd angle = arc_tangent(quotient);
  // base +- angle, with base 0, pi/2 or pi.
  Simd turned = steep ^ leftward;
  angle = select(turned, -angle, angle);
  auto base = [&](double quarter) {
    Simd flat = select(leftward, x.constant(2 * quarter), 0);
    return select(steep, quarter, flat);
  };
  return copysign(base(half_pi) + (angle + base(half_pi_low(x))), y);
}

}  // namespace anabranch::cpu::math
