// Hurwitz's zeta function and the derivatives of digamma.
#include <cmath>
#include <limits>

#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// B(2k) / (2k)!, B being Bernoulli's numbers, k from 1 on.
constexpr double corrections[] = {
    1. / 12,
    -1. / 720,
    1. / 30240,
    -1. / 1209600,
    1. / 47900160,
    -691. / 1307674368000.,
    1. / 74724249600.,
    -3617. / 10670622842880000.,
    43867. / 5109094217170944000.,
    -174611. / 802857662698291200000.,
};

// The terms of the sum that are added one by one.
constexpr int direct = 10;

// (q + k)^-x; what the addition loses changes the power by -x times its share.
Term power_of_sum(const Term& q, int k, const Term& x) {
  const Term sum = q + k, lost = (q - sum) + k, power = pow(sum, -x);
  return power - power * (x * lost / sum);
}

// Euler and Maclaurin's formula, for x > 1 and q > 0.
Term zeta_of_positive(const Term& any, const Term& q) {
  const Term x = minimum(any, 1e300);  // an infinite one times 0 would not be a number
  const Term end = q + direct;
  const Term last = power_of_sum(q, direct, x), per_end = 1 / end;
  // x (x + 1) ... (x + 2k - 2) / end^(2k - 1), which grows beyond all bounds only where the power
  // is 0.
  Term factor = x * per_end, rest = factor * corrections[0];
  for (int k = 1; k < static_cast<int>(std::size(corrections)); ++k) {
    factor = factor * ((x + (2 * k - 1)) * per_end) * ((x + 2 * k) * per_end);
    rest = rest + factor * corrections[k];
  }
  const Term tail = last * (end / (x - 1) + 0.5 + rest);
  // The smallest come first.
  Term sum = power_of_sum(q, direct - 1, x);
  for (int k = direct - 2; k > 0; --k) sum = sum + power_of_sum(q, k, x);
  return (sum + pow(q, -x)) + where(last == 0, 0, tail);
}

Term zeta_of(const Term& x, const Term& q) {
  // Below 0, for an integer x: the sum over all integers is that of both directions from r = q -
  // floor(q), and what comes before q is taken off again, up to the sign of odd powers.
  const Term is_below = q < 0, r = q - floor(q);
  const Term from = zeta_of_positive(x, where(is_below, r, q));
  const Term before = zeta_of_positive(x, where(is_below, 1 - r, 1));
  const Term taken_off = zeta_of_positive(x, where(is_below, 1 - q, 1));
  const Term is_even = x * 0.5 == floor(x * 0.5);
  const Term others = before - taken_off;
  const Term value = where(is_below, from + where(is_even, others, -others), from);
  const Term is_whole = x == floor(x);
  const Term at_pole = where(is_even, infinity, not_a_number);
  const Term on_left =
      where((q <= 0) & (q == floor(q)), at_pole, where(is_below & !is_whole, not_a_number, value));
  const Term checked = where(q == infinity, 0, on_left);
  return where(isnan(q), q, where(x > 1, checked, where(x == 1, infinity, not_a_number)));
}

// NaN of a complex number, which is refused where it is brought to the dtype of the other operand.
double value_of(const Number& number) {
  return number.kind == Number::Kind::complex ? not_a_number : real_number(number);
}

}  // namespace

Array zeta(const Operand& x, const Operand& q) {
  auto [a, b] = terms_of("zeta", x, q);
  return as_dtype_of(a, zeta_of(in_f64(a), in_f64(b)));
}

Array polygamma(const Operand& order, const Operand& x) {
  if (order.is_number() && value_of(order.number()) == 0) return digamma(x);
  auto [n, y] = terms_of("polygamma", order, x);
  const Term wide = in_f64(n), at = in_f64(y);
  const Term series = zeta_of(wide + 1, at);
  const Term factorial = order.is_number() ? Term(std::tgamma(value_of(order.number()) + 1))
                                           : Term(gamma(wide + 1), x.where());
  const Term is_even = wide * 0.5 == floor(wide * 0.5);
  Term value = where(is_even, -series, series) * factorial;
  if (!order.is_number()) value = where(wide == 0, special::digamma(at), value);
  const Term is_order = (wide >= 0) & (wide == floor(wide));
  return as_dtype_of(y, where(is_order, value, not_a_number));
}

}  // namespace anabranch
