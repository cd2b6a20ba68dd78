// The logarithm and what is made of it: x = 2^k (1 + f), log x = k ln 2 + log(1 + f), with f within
// 1/3.
#include <numbers>

#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// The binary exponent k of x > 0, normal, such that 2/3 <= x / 2^k < 4/3.
Simd binary_exponent(Simd x) {
  return (x.bits() - x.constant(2.0 / 3).bits()) >> x.mantissa_bits();
}

// k and f with 1 + x = 2^k (1 + f), for x > -1 and finite; 2^(2 - k), and what f lost. After N.
// Juffa's log1pf: 1 + x may round, but 2^-k x + (2^-k - 1) hardly does.
struct LogPlusOneReduction {
  Simd k, f, four, lost;
};
LogPlusOneReduction reduce_log_plus_one(Simd x) {
  Simd k = binary_exponent(1 + x);
  Simd exponent = k << x.mantissa_bits();
  Simd scaled = (x.bits() - exponent).as_float();
  Simd four = (x.constant(4).bits() - exponent).as_float();  // 2^-k alone may be subnormal
  Simd offset = fma(four, 0.25, -1);
  Simd f = scaled + offset;
  return {k.to_float(), f, four, (offset - f) + scaled};
}

// log(1 + f) - f.
Simd log_tail(Simd f) { return f * f * fma(f, polynomial(f, coefficients::log), -0.5); }

// log(1 + head + tail) for a positive head and |tail| <= |head|; log(2 head) where head > `big`.
Simd log_plus_one_of_sum(Simd head, Simd tail, double big) {
  Simd doubled = head > big;
  Simd sum = head + tail;
  Simd rest = (head - sum) + tail;
  auto [k, f, four, lost] = reduce_log_plus_one(select(doubled, head, sum));
  Simd f_rest = lost + select(doubled, 0, rest * (0.25 * four));
  k = select(doubled, k + 1, k);
  // 1 / (1 + f) is close enough to 1 - f for what is left.
  f_rest = fma(-f, f_rest, f_rest);
  f_rest = fma(k, f.pick(-0x1.05c610p-29, 0x1.abc9e3b39803fp-56), f_rest);
  return fma(k, std::numbers::ln2, f + (log_tail(f) + f_rest));
}

}  // namespace

Simd log_of_reduced(LogReduction reduced) {
  auto [f, k] = reduced;
  Simd tail = fma(f, polynomial(f, coefficients::log), -0.5);
  return fma(k, std::numbers::ln2, fma(f * f, tail, f));
}

LogReduction reduce_log(Simd x) {
  Simd low = x < x.pick(0x1p-126, 0x1p-1022);
  Simd normal = select(low, x * x.pick(0x1p23, 0x1p52), x);
  Simd k = binary_exponent(normal);
  Simd f = (normal.bits() - (k << x.mantissa_bits())).as_float() - 1;
  Simd binary = k.to_float();
  return {f, select(low, binary - x.mantissa_bits(), binary)};
}

Simd log(Simd x) {
  Simd y = log_of_reduced(reduce_log(x));
  y = select(at_least_or_nan(x, infinity), x, y);
  y = select(x == 0, -x.infinity(), y);
  return select(x < 0, x.nan(), y);
}

Simd log_plus_one(Simd x) {
  LogPlusOneReduction reduced = reduce_log_plus_one(x);
  Simd y = copysign(log_of_reduced({reduced.f, reduced.k}), x);
  y = select(at_least_or_nan(x, infinity), x, y);
  y = select(x == -1, -x.infinity(), y);
  return select(x < -1, x.nan(), y);
}

Simd asinh(Simd x) {
  // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); log(2 a) where a^2 + 1 is a^2.
  Simd a = abs(x);
  Simd aa = a * a;
  Simd y = log_plus_one_of_sum(a, aa / (1 + sqrt(aa + 1)), x.pick(0x1p25, 0x1p54));
  return copysign(select(at_least_or_nan(a, infinity), a, y), x);
}

Simd acosh(Simd x) {
  // With t = x - 1: log1p(sqrt(t^2 + 2 t) + t); log(2 x) where the sum is 2 x.
  Simd t = x - 1;
  const double big = x.pick(0x1p25, 0x1p54);
  Simd root = select(x > big, x, sqrt(fma(t, t, t + t)));
  Simd y = log_plus_one_of_sum(root, t, big);
  y = select(at_least_or_nan(x, infinity), x, y);
  return select(x < 1, x.nan(), y);
}

Simd atanh(Simd x) {
  // log((1 + a) / (1 - a)) / 2. With the quotient close to 2^e, what is left is 2 atanh(g) for a
  // small g = (1 + a - 2^e (1 - a)) / (1 + a + 2^e (1 - a)). Differences of bits are good enough
  // for e.
  Simd a = abs(x);
  Simd above = 1 + a, below = 1 - a;
  // Rounding down, mostly, keeps e ln 2 / 2 and atanh(g) from cancelling; 1 - 2^e must be exact.
  const std::int64_t quarter = std::int64_t{1} << (x.mantissa_bits() - 2);
  Simd e = (above.bits() - below.bits() + quarter) >> x.mantissa_bits();
  e = select(e > x.mantissa_bits() + 1, x.mantissa_bits() + 1, e);
  Simd scale = power_of_two(e);
  Simd central = e == 0;
  Simd g = select(central, a, a + fma(scale, a, 1 - scale)) /
           select(central, 1, fma(scale, below, above));
  Simd gg = g * g;
  Simd y = fma(gg * g, polynomial(gg, coefficients::inverse_hyperbolic_tangent), g);
  y = copysign(fma(e.to_float(), std::numbers::ln2 / 2, y), x);
  y = select(a == 1, copysign(x.infinity(), x), y);
  return select(a > 1, x.nan(), y);
}

}  // namespace anabranch::cpu::math
