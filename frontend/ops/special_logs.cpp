// Logarithms of probabilities, and sinc.
#include <cmath>
#include <limits>
#include <numbers>

#include "anabranch/nn.h"
#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// y, or `one`, whose logarithm is 0, where x is 0 and y's logarithm no number to multiply by: it is
// not above `least`, or infinite.
Term unless_zero(const Term& x, const Term& y, double least, double one) {
  return where((x == 0) & ((y <= least) | (y == infinity)), one, y);
}

// p log(p / q) for positive numbers; 0 for others.
Term entropy_inside(const Term& p, const Term& q, const Term& both) {
  const Term x = where(both, p, 1), y = where(both, q, 1), ratio = x / y;
  // Where it over- or underflows, its logarithm is large, and the difference loses nothing.
  const Term is_ordinary = (ratio >= 1e-300) & (ratio < infinity);
  return x * where(is_ordinary, log(x / where(is_ordinary, y, x)), log(x) - log(y));
}

}  // namespace

Array expit(const Operand& x) { return sigmoid(term("expit", x)); }

Array logit(const Operand& p) {
  const Term given = term("logit", p), y = in_f64(given);
  // Around 0.5 the quotient is close to 1, and its distance from 1 is exact. The branch that is not
  // taken is at a place where its derivative is a number.
  const Term is_near = (y > 0.25) & (y < 0.75);
  const Term middle = where(is_near, y, 0.5), outer = where(is_near, 0.75, y);
  const Term near = log1p((2 * middle - 1) / (1 - middle)), far = log(outer) - log1p(-outer);
  return as_dtype_of(given, where(is_near, near, far));
}

Array xlogy(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("xlogy", x, y);
  const Term factor = in_f64(a);
  return as_dtype_of(a, factor * log(unless_zero(factor, in_f64(b), 0, 1)));
}

Array xlog1py(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("xlog1py", x, y);
  const Term factor = in_f64(a);
  return as_dtype_of(a, factor * log1p(unless_zero(factor, in_f64(b), -1, 0)));
}

Array entr(const Operand& x) {
  const Term given = term("entr", x), y = in_f64(given);
  const Term inside = where(y <= 0, 1, y);
  return as_dtype_of(given, where(y < 0, -infinity, where(y == 0, 0, -inside * log(inside))));
}

Array rel_entr(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("rel_entr", x, y);
  const Term p = in_f64(a), q = in_f64(b), both = (p > 0) & (q > 0);
  const Term inside = entropy_inside(p, q, both);
  const Term value = where(both, inside, where((p == 0) & (q >= 0), 0, infinity));
  return as_dtype_of(a, where(isnan(p) | isnan(q), p + q, value));
}

Array kl_divergence(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("kl_divergence", x, y);
  const Term p = in_f64(a), q = in_f64(b), both = (p > 0) & (q > 0);
  const Term inside = entropy_inside(p, q, both) - p + q;
  const Term value = where(both, inside, where((p == 0) & (q >= 0), q, infinity));
  return as_dtype_of(a, where(isnan(p) | isnan(q), p + q, value));
}

Array sinc(const Operand& x) {
  const Term given = term("sinc", x), y = in_f64(given);
  // sin(pi y) by y's distance from the nearest integer, which is exact; its sign is that of odd
  // ones.
  const Term nearest = round(y), sine = sin(std::numbers::pi * (y - nearest));
  const Term is_odd = nearest * 0.5 != floor(nearest * 0.5);
  const Term is_near = abs(y) < 0.05, is_far = abs(y) == infinity;
  const Term divisor = std::numbers::pi * where(is_near, 1, y);
  const Term value = where(is_odd, -sine, sine) / divisor;
  // Near 0 by its series, so that it has derivatives.
  constexpr double series[] = {1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800};
  const Term z = std::numbers::pi * where(is_near, y, 0);
  const Term near = polynomial(z * z, series);
  return as_dtype_of(given, where(is_near, near, where(is_far, 0, value)));
}

}  // namespace anabranch
