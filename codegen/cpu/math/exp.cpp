// e^x and what is made of it. The reduction is Cody and Waite's (Software Manual for the Elementary
// Functions, 1980, chapter 6): x = k ln 2 + r, e^x = 2^k e^r.
#include <numbers>

#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {

ExponentialReduction reduce_exponential(Simd x, double bias) {
  // Adding 1.5 * 2^23 leaves the rounded integer in the low bits.
  const double magic = x.pick(0x1.8p23, 0x1.8p52);
  Simd shifted =
      bias == 0 ? fma(x, std::numbers::log2e, magic) : fma(x, std::numbers::log2e, bias) + magic;
  Simd k = shifted - magic;
  Simd r = fma(k, x.pick(-0x1.62e430p-1, -0x1.62e42fefa39efp-1), x);
  r = fma(k, x.pick(0x1.05c610p-29, -0x1.abc9e3b39803fp-56), r);
  return {r, shifted.bits(), k};
}

Simd power_of_two(Simd k) {
  return ((k << k.mantissa_bits()) + (k.exponent_bias() << k.mantissa_bits())).as_float();
}

namespace {

// The ends of the exponential's range.
struct Range {
  double overflow;   // the greatest x with a finite e^x
  double subnormal;  // below it the result may be subnormal
  double zero;       // below it the result is 0
};
constexpr Range f32_range{0x1.62e42ep6, -87, -104};
constexpr Range f64_range{0x1.62e42fefa39efp9, -708, -746};

// e^x - 1 = 2^k p + (2^k - 1), p = e^r - 1, with log(3/4) <= r <= log(3/2): so the rounding of p
// weighs least on either side of 0.
struct Difference {
  Simd p, k;
};
Difference reduce_difference(Simd x) {
  auto [r, k, whole] = reduce_exponential(x, -0.085);
  return {fma(r * r, polynomial(r, coefficients::exponential_minus_one), r), k};
}

}  // namespace

Simd exponential(Simd x) {
  const Range range = x.pick(f32_range, f64_range);
  if (x.has_avx512()) {
    // The instruction rounds to a subnormal or overflows by itself; NaN goes through the bounds.
    // Where k is no longer whole, r is anything: a polynomial of even degree stays positive, and
    // positive times a huge power of two is inf, as is NaN times 2^inf (for x = inf).
    Simd bounded = select(x < range.zero, range.zero, x);
    const bool is_positive_everywhere =
        x.pick(coefficients::exponential.f32, coefficients::exponential.f64).size() % 2 == 1;
    if (!is_positive_everywhere)
      bounded = select(bounded > range.overflow + 1, range.overflow + 1, bounded);
    auto [r, k, whole] = reduce_exponential(bounded);
    return scale(fma(r, fma(r, polynomial(r, coefficients::exponential), 1), 1), whole);
  }
  auto [r, k, whole] = reduce_exponential(select(x < range.zero, range.zero, x));
  Simd y = fma(r, fma(r, polynomial(r, coefficients::exponential), 1), 1);
  // 2^k goes straight into the exponent; where the result may be subnormal, in two steps.
  Simd low = x < range.subnormal;
  Simd exponent = k << x.mantissa_bits();
  exponent = select(low, exponent + (x.pick<std::int64_t>(64, 128) << x.mantissa_bits()), exponent);
  y = (y.bits() + exponent).as_float();
  y = select(low, y * x.pick(0x1p-64, 0x1p-128), y);
  return select(above_or_nan(x, range.overflow), x + x.infinity(), y);
}

Simd exponential_minus_one(Simd x) {
  const Range range = x.pick(f32_range, f64_range);
  // Below -40 the result is -1 whatever x is.
  auto [p, k] = reduce_difference(select(x < -40, -40, x));
  // Half of it, doubled: 2^k itself may overflow.
  Simd half_scale = power_of_two(k - 1);
  Simd y = fma(p, half_scale, half_scale - 0.5);
  y = copysign(y + y, x);
  return select(x > range.overflow, x.infinity(), y);
}

Simd logistic(Simd x) {
  // 1 / (1 + e^z), z = -x, with 1 + e^z = (1 + 2^k) + 2^k (e^r - 1) and what rounding 1 + 2^k lost.
  const Range range = x.pick(f32_range, f64_range);
  Simd z = select(x < range.zero, -range.zero, select(x > 40, -40, -x));
  auto [r, k, whole] = reduce_exponential(z);
  Simd p = fma(r * r, polynomial(r, coefficients::exponential), r);
  // Where the result may be subnormal: by a power of two too large, and without the 1.
  Simd low = z > -range.subnormal;
  Simd scale = power_of_two(select(low, k - x.pick(64, 128), k));
  Simd one = select(low, 0, x.constant(1));
  Simd head = scale + one;
  Simd y = 1 / (head + fma(p, scale, one - (head - scale)));
  return select(low, y * x.pick(0x1p-64, 0x1p-128), y);
}

namespace {

// sinh and cosh of x = k ln 2 + r, divided by 4: by the addition theorem,
// cosh x = cosh r (2^k + 2^-k) / 2 + sinh r (2^k - 2^-k) / 2, and sinh x with the powers exchanged.
struct Hyperbolic {
  Simd sinh, cosh;
};
Hyperbolic quarter_hyperbolic(Simd magnitude) {
  const double limit = magnitude.pick(90.0, 711.0);  // beyond it both overflow
  Simd a = select(magnitude > limit, limit, magnitude);
  auto [r, k, whole] = reduce_exponential(a);
  Simd up = power_of_two(k - 3);
  Simd down = select(a > 60, 0, power_of_two(-3 - k));
  Simd sum = up + down, difference = up - down;
  Simd rr = r * r;
  Simd sinh_r = fma(rr * r, polynomial(rr, coefficients::hyperbolic_sine), r);
  Simd cosh_r_minus_one = rr * polynomial(rr, coefficients::hyperbolic_cosine);
  return {difference + fma(sum, sinh_r, difference * cosh_r_minus_one),
          up + fma(difference, sinh_r, fma(sum, cosh_r_minus_one, down))};
}

}  // namespace

Simd sinh(Simd x) {
  Simd a = abs(x);
  Simd y = copysign(4 * quarter_hyperbolic(a).sinh, x);
  // A quarter of a tiny x would lose bits.
  return select(a < x.pick(0x1p-13, 0x1p-27), x, y);
}

Simd cosh(Simd x) { return 4 * quarter_hyperbolic(abs(x)).cosh; }

Simd tanh(Simd x) {
  // t = e^(2|x|) - 1; tanh |x| = t / (t + 2). From `limit` on it rounds to 1.
  const double limit = x.pick(10.0, 20.0);
  Simd a = abs(x);
  Simd clamped = select(a > limit, limit, a);
  auto [p, k] = reduce_difference(clamped + clamped);
  Simd scale = power_of_two(k);
  Simd t = fma(p, scale, scale - 1);
  // Close to 0 the roundings of t, t + 2 and the quotient would add up.
  Simd aa = a * a;
  Simd central = fma(aa * a, polynomial(aa, coefficients::hyperbolic_tangent), a);
  return copysign(select(a < 0.4, central, t / (t + 2)), x);
}

}  // namespace anabranch::cpu::math
