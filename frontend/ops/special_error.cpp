// The error function's complement and the normal distribution.
#include <cmath>
#include <limits>
#include <numbers>

#include "anabranch/special.h"
#include "frontend/ops/special_coefficients.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// e^(factor x^2), factor being a power of 2 and its sign, without the rounding error of the square:
// that of the upper half has none, and the rest is small.
Term exp_of_square(const Term& x, double factor) {
  // Beyond 64 all is 0 or infinite, and stays so.
  const Term near = minimum(x, 64);
  const Term upper = upper_half(near);
  return exp(upper * upper * factor) * exp((near - upper) * (near + upper) * factor);
}

}  // namespace

Term special::erfcx_of_positive(const Term& x) {
  constexpr double middle = 3.75;
  const Term finite = minimum(x, 1e300), above = finite + middle, below = finite - middle;
  const Term quotient = below / above;
  // What rounding took from both, which counts where x is small.
  const Term lost_above = finite - (above - middle), lost_below = finite - (below + middle);
  const Term t = quotient + (lost_below - quotient * lost_above) / above;
  return 0.5 * polynomial(t, coefficients::erfcx_scaled) / (0.5 + x);
}

Array erfc(const Operand& x) {
  const Term given = term("erfc", x), y = in_f64(given), a = abs(y);
  const Term upper = special::erfcx_of_positive(a) * exp_of_square(a, -1);
  return as_dtype_of(given, where(y < 0.5, where(y < -0.5, 2 - upper, 1 - erf(y)), upper));
}

Array erfcx(const Operand& x) {
  const Term given = term("erfcx", x), y = in_f64(given);
  const Term upper = special::erfcx_of_positive(magnitude(y));
  const Term more = 2 * exp_of_square(where(y < 0, -y, 0), 1);
  return as_dtype_of(given, where(y < 0, more - upper, upper));
}

Array ndtr(const Operand& x) {
  const Term given = term("ndtr", x), y = in_f64(given), a = abs(y);
  const Term tail =
      0.5 * special::erfcx_of_positive(a * (1 / std::numbers::sqrt2)) * exp_of_square(a, -0.5);
  const Term middle = 0.5 + 0.5 * erf(y * (1 / std::numbers::sqrt2));
  return as_dtype_of(given, where(a < 0.5, middle, where(y < 0, tail, 1 - tail)));
}

Array log_ndtr(const Operand& x) {
  const Term given = term("log_ndtr", x), y = in_f64(given), a = abs(y);
  const Term scaled = 0.5 * special::erfcx_of_positive(a * (1 / std::numbers::sqrt2));
  const Term below = log(scaled) - 0.5 * y * y;
  const Term above = log1p(-scaled * exp_of_square(a, -0.5));
  const Term is_middle = a < 0.5, inside = where(is_middle, y, 0);
  const Term middle = log(0.5 + 0.5 * erf(inside * (1 / std::numbers::sqrt2)));
  return as_dtype_of(given, where(is_middle, middle, where(y < 0, below, above)));
}

Array ndtri(const Operand& p) {
  const Term given = term("ndtri", p), q = in_f64(given);
  const Term tail = minimum(q, 1 - q);
  // The distance from the middle is r times a function that is smooth in log(r); r as P = e^(-r^2 /
  // 2).
  const Term r = sqrt(-2 * log(tail));
  const Term ratio = polynomial((log(r) - 2.2) * (1 / 1.5), coefficients::normal_tail);
  const Term far = where(tail == 0, infinity, r * ratio);
  // The branch that is not taken is at a place where its derivative is a number.
  const Term is_tail = tail < 0.1;
  const Term middle = erfinv(2 * where(is_tail, 0.5, q) - 1) * std::numbers::sqrt2;
  return as_dtype_of(given, where(is_tail, where(q < 0.5, -far, far), middle));
}

}  // namespace anabranch
