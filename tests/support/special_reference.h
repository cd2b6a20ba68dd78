// The special functions in quadruple precision, by their series: what ours are measured against.
#pragma once

#include <quadmath.h>

namespace anabranch::test {

using Quad = __float128;
inline const Quad quad_pi = 4 * atanq(1);
inline const Quad quad_infinity = Quad(HUGE_VAL);

inline Quad erfcx_quad(Quad x) {
  if (x < 100) return expq(x * x) * erfcq(x);
  Quad sum = 1, term = 1;
  for (int k = 1; k < 8; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum / (x * sqrtq(quad_pi));
}

inline Quad ndtr_quad(Quad x) { return erfcq(-x / sqrtq(2)) / 2; }
inline Quad log_ndtr_quad(Quad x) {
  if (x > 1) return log1pq(-ndtr_quad(-x));
  return logq(erfcx_quad(-x / sqrtq(2)) / 2) - x * x / 2;
}

/// By Newton's method on the logarithm, in the lower half.
inline Quad ndtri_quad(Quad p) {
  if (p < 0 || p > 1 || isnanq(p)) return nanq("");
  if (p > Quad(0.5)) return -ndtri_quad(1 - p);
  if (p == 0) return -quad_infinity;
  const Quad wanted = logq(p), r = sqrtq(-2 * wanted);
  Quad x = -r + (r > 3 ? (logq(2 * quad_pi) + 2 * logq(r)) / (2 * r) : Quad(1));
  for (int i = 0; i < 60; ++i) {
    const Quad density = expq(-x * x / 2) / sqrtq(2 * quad_pi);
    x -= (log_ndtr_quad(x) - wanted) * ndtr_quad(x) / density;
  }
  return x;
}

/// pi cot(pi x), of x less its integer part.
inline Quad cotangent_quad(Quad x) {
  const Quad rest = x - roundq(x);
  return quad_pi * cosq(quad_pi * rest) / sinq(quad_pi * rest);
}

inline Quad digamma_quad(Quad x) {
  if (x <= 0 && x == floorq(x)) return nanq("");
  if (x < 0) return digamma_quad(1 - x) - cotangent_quad(x);
  Quad rise = 0;
  for (; x < 60; x += 1) rise += 1 / x;
  const Quad w = 1 / (x * x);
  const Quad series =
      w *
      (Quad(1) / 12 -
       w * (Quad(1) / 120 -
            w * (Quad(1) / 252 -
                 w * (Quad(1) / 240 -
                      w * (Quad(1) / 132 - w * (Quad(691) / 32760 -
                                                w * (Quad(1) / 12 - w * Quad(3617) / 8160)))))));
  return logq(x) - 1 / (2 * x) - series - rise;
}

/// For x > 1 and q that is neither 0 nor a negative integer.
inline Quad zeta_quad(Quad x, Quad q) {
  Quad sum = 0;
  const Quad start = 60 + 2 * x;
  for (; q < start; q += 1) sum += powq(q, -x);
  const Quad numbers[] = {Quad(1) / 12,
                          -Quad(1) / 720,
                          Quad(1) / 30240,
                          -Quad(1) / 1209600,
                          Quad(1) / 47900160,
                          -Quad(691) / Quad(1307674368000.),
                          Quad(1) / Quad(74724249600.)};
  const Quad last = powq(q, -x);
  Quad rest = 0, factor = x / q;
  for (int k = 0; k < 7; ++k) {
    rest += factor * numbers[k];
    factor *= (x + (2 * k + 1)) * (x + (2 * k + 2)) / (q * q);
  }
  return sum + last * (q / (x - 1) + Quad(0.5) + rest);
}

/// I0 or I1, by the power series.
inline Quad bessel_quad(int order, Quad x) {
  const Quad a = x * x / 4;
  Quad term = order == 0 ? Quad(1) : x / 2, sum = term;
  for (int k = 1; k < 100000 && fabsq(term) > fabsq(sum) * Quad(1e-40); ++k) {
    sum += term *= a / (Quad(k) * (k + order));
  }
  return sum;
}

/// P(a, x) by its series, or Q(a, x) by its continued fraction where that is the smaller.
struct IncompleteGamma {
  Quad lower, upper;
};
inline IncompleteGamma incomplete_gamma_quad(Quad a, Quad x) {
  if (x == 0) return {0, 1};
  const Quad density = expq(a * logq(x) - x - lgammaq(a));
  if (x < a + 1) {
    Quad term = 1 / a, sum = term;
    for (int n = 1; n < 100000 && term > sum * Quad(1e-34); ++n) sum += term *= x / (a + n);
    return {density * sum, 1 - density * sum};
  }
  Quad fraction = 0;
  for (int n = 4000; n > 0; --n) fraction = n * (n - a) / (x + 2 * n + 1 - a - fraction);
  const Quad upper = density / (x + 1 - a - fraction);
  return {1 - upper, upper};
}

/// I(a, b, x) by the power series at 0 (Abramowitz and Stegun 26.5.4), or that of 1 - x.
inline Quad incomplete_beta_quad(Quad a, Quad b, Quad x) {
  if (x > Quad(0.5)) return 1 - incomplete_beta_quad(b, a, 1 - x);
  Quad term = 1, sum = 1;
  for (int n = 0; n < 100000 && fabsq(term) > fabsq(sum) * Quad(1e-36); ++n) {
    sum += term *= (a + b + n) / (a + 1 + n) * x;
  }
  const Quad log_beta = lgammaq(a) + lgammaq(b) - lgammaq(a + b);
  return expq(a * logq(x) + b * log1pq(-x) - log_beta) * sum / a;
}

}  // namespace anabranch::test
