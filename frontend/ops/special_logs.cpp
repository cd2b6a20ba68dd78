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

// x times a logarithm that may be infinite where x is 0, and is y where it is NaN.
Term times_log(const Term& x, const Term& y, const Term& logarithm) {
  return where((x == 0) & !isnan(y), 0, x * logarithm);
}

}  // namespace

Array expit(const Operand& x) { return sigmoid(term("expit", x)); }

Array logit(const Operand& p) {
  const Term given = term("logit", p), y = in_f64(given);
  // Around 0.5 the quotient is close to 1, and its distance from 1 is exact.
  const Term near = log1p((2 * y - 1) / (1 - y)), far = log(y / (1 - y));
  return as_dtype_of(given, where((y > 0.25) & (y < 0.75), near, far));
}

Array xlogy(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("xlogy", x, y);
  const Term wide = in_f64(b);
  return as_dtype_of(a, times_log(in_f64(a), wide, log(wide)));
}

Array xlog1py(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("xlog1py", x, y);
  const Term wide = in_f64(b);
  return as_dtype_of(a, times_log(in_f64(a), wide, log1p(wide)));
}

Array entr(const Operand& x) {
  const Term given = term("entr", x), y = in_f64(given);
  return as_dtype_of(given, where(y < 0, -infinity, where(y == 0, 0, -y * log(y))));
}

Array rel_entr(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("rel_entr", x, y);
  const Term p = in_f64(a), q = in_f64(b);
  const Term inside = p * log(p / q);
  const Term value = where((p > 0) & (q > 0), inside, where((p == 0) & (q >= 0), 0, infinity));
  return as_dtype_of(a, where(isnan(p) | isnan(q), p + q, value));
}

Array kl_divergence(const Operand& x, const Operand& y) {
  auto [a, b] = terms_of("kl_divergence", x, y);
  const Term p = in_f64(a), q = in_f64(b);
  const Term inside = p * log(p / q) - p + q;
  const Term value = where((p > 0) & (q > 0), inside, where((p == 0) & (q >= 0), q, infinity));
  return as_dtype_of(a, where(isnan(p) | isnan(q), p + q, value));
}

Array sinc(const Operand& x) {
  const Term given = term("sinc", x), y = in_f64(given);
  // sin(pi y) by y's distance from the nearest integer, which is exact; its sign is that of odd
  // ones.
  const Term nearest = round(y), sine = sin(std::numbers::pi * (y - nearest));
  const Term is_odd = nearest * 0.5 != floor(nearest * 0.5);
  const Term value = where(is_odd, -sine, sine) / (std::numbers::pi * y);
  return as_dtype_of(given, where(y == 0, 1, where(abs(y) == infinity, 0, value)));
}

}  // namespace anabranch
