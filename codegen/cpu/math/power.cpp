// Powers.
#include <numbers>

#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// A number as an unevaluated sum, the second part about 2^-53 of the first.
struct Sum {
  Simd high, low;
};

// (a + b) for |a| >= |b| or a = 0, with what the addition lost (Dekker 1971).
Sum fast_two_sum(Simd a, Simd b) {
  Simd sum = a + b;
  return {sum, (a - sum) + b};
}

// a b with its rounding error, and the smaller cross terms.
Sum product(Sum a, Sum b) {
  Simd high = a.high * b.high;
  Simd low = fma(a.high, b.high, -high);
  return {high, fma(a.low, b.high, fma(a.high, b.low, low))};
}

// log a to about 2^-64 of itself, for f64 a > 0 and finite: 2 atanh(s), s = f / (2 + f), in sums.
Sum precise_log(Simd a) {
  auto [f, k] = reduce_log(a);
  Sum denominator = fast_two_sum(a.constant(2), f);
  Simd inverse = 1 / denominator.high;
  Simd s_high = f * inverse;
  Simd remainder = fma(-s_high, denominator.high, f);
  Sum s{s_high, fma(-s_high, denominator.low, remainder) * inverse};
  Sum ss = product(s, s);
  Simd tail = polynomial(ss.high, coefficients::log_quotient);
  Simd tail_high = ss.high * tail;
  Simd tail_low = fma(ss.low, tail, fma(ss.high, tail, -tail_high));
  Sum third = fast_two_sum(a.constant(1.0 / 3), tail_high);
  third.low = third.low + (tail_low + 0x1.5555555555555p-56);  // 1/3 - double(1/3)
  Sum cubic = product(s, product(ss, third));
  // k ln 2 + 2 s + 2 cubic, ln 2 being cut so that the first product is exact.
  Sum head = fast_two_sum(k * 0x1.62e42fefa3800p-1, s.high + s.high);
  Sum total = fast_two_sum(head.high, cubic.high + cubic.high);
  Simd rest = fma(k, 0x1.ef35793c76730p-45, head.low + total.low);
  return {total.high, fma(s.low + cubic.low, 2, rest)};
}

// a^y for f64 a >= 0, without the special cases of `power`.
Simd power_of_magnitude_f64(Simd a, Simd y) {
  Sum log = precise_log(a);
  log.high = select(a == 0, -a.infinity(), log.high);
  log.high = select(at_least_or_nan(a, infinity), a, log.high);
  Simd high = y * log.high;
  Simd low = fma(y, log.low, fma(y, log.high, -high));
  // Beyond these the result is infinity or 0.
  Simd over = high > 710, under = high < -746;
  high = select(over, 710, select(under, -746, high));
  low = select(over | under, 0, low);
  auto [r, k, whole] = reduce_exponential(high);
  r = r + low;
  Simd result = 1 + fma(r * r, polynomial(r, coefficients::exponential), r);
  // In two steps, since 2^k may overflow or be subnormal.
  Simd small = high < -700;
  result = result * power_of_two(k + select(small, k.constant(128), -1));
  return result * select(small, 0x1p-128, result.constant(2));
}

// The same for f32, by way of f64: no overflow, no subnormal numbers, and bits to spare.
Simd power_of_magnitude_f32(Simd narrow_a, Simd narrow_y) {
  Simd a = narrow_a.to_f64(), y = narrow_y.to_f64();
  Simd k = (a.bits() - a.constant(2.0 / 3).bits()) >> 52;
  Simd f = (a.bits() - (k << 52)).as_float() - 1;
  Simd log_2 = fma(f, polynomial(f, coefficients::log_2), k.to_float());
  log_2 = select(a == 0, -a.infinity(), log_2);
  log_2 = select(at_least_or_nan(a, infinity), a, log_2);
  Simd exponent = y * log_2;
  exponent = select(exponent > 200, 200, select(exponent < -200, -200, exponent));
  Simd shifted = exponent + 0x1.8p52;
  Simd r = exponent - (shifted - 0x1.8p52);
  Simd result = fma(r, polynomial(r, coefficients::exponential_2), 1);
  return (result * power_of_two(shifted.bits())).to_f32();
}

}  // namespace

Simd power(Simd x, Simd y) {
  Simd a = abs(x);
  Simd result = x.is_wide() ? power_of_magnitude_f64(a, y) : power_of_magnitude_f32(a, y);
  // C99 annex F.9.4.4.
  Simd half = y * 0.5;
  Simd whole = round(y) == y, odd = whole & (round(half) != half);
  Simd sign = select(odd, sign_bit(x), 0);
  result = (result.bits() | sign).as_float();
  result = select((x < 0) & (a < infinity) & !whole, x.nan(), result);
  Simd one = (y == 0) | (x == 1) | ((a == 1) & (abs(y) == infinity));
  return select(one, 1, result);
}

}  // namespace anabranch::cpu::math
