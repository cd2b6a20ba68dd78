// Sine, cosine and tangent on a reduced angle.
#include "codegen/cpu/math/angle.h"
#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// sin r for |r| <= pi / 2, negated where the lowest bit of `n` is set.
Simd sine_reduced(Simd r, Simd n) {
  Simd rr = r * r;
  Simd y = fma(rr * r, polynomial(rr, coefficients::sine), r);
  // Near pi / 2 the last rounding may come to the number after 1.
  y = select(y > 1, 1, y);
  y = select(y < -1, -1, y);
  return (y.bits() ^ (n << r.pick(31, 63))).as_float();
}

}  // namespace

Simd sine(Simd x) {
  Angle angle = reduce_angle(x, Turn::half);
  // -0 would come out of the reduction as 0.
  return select(x == 0, x, sine_reduced(angle.r, angle.n));
}

Simd cosine(Simd x) {
  // cos(r + pi/2 + n pi) = -sin r for even n.
  Angle angle = reduce_angle(abs(x), Turn::half_from_quarter);
  return sine_reduced(angle.r, angle.n + 1);
}

Simd tan(Simd x) {
  Angle angle = reduce_angle(x, Turn::quarter);
  Simd r = angle.r, rr = r * r;
  Simd correction = fma(rr * r, polynomial(rr, coefficients::tangent), angle.low);
  Simd t = r + correction;
  // For odd n, -1 / t, corrected by what t and the division lost.
  Simd tail = (r - t) + correction;
  Simd q = -1 / t;
  Simd cotangent = fma(q, fma(q, tail, fma(q, t, 1)), q);
  Simd y = select((angle.n & 1) != 0, cotangent, t);
  return select(x == 0, x, y);
}

}  // namespace anabranch::cpu::math
