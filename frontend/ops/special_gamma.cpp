// The gamma function, its logarithm, and the derivatives of that.
#include <cmath>
#include <limits>
#include <numbers>

#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/special_coefficients.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

constexpr double pi = std::numbers::pi;

// a >= 0 brought close to 2, where the polynomials hold.
struct Reduced {
  Term below_one;   // there `from_two` belongs to a + 1
  Term product;     // gamma(a) = product * gamma(2 + from_two), for 1 <= a < 8
  Term derivative;  // digamma(a) = derivative + digamma(2 + from_two), for 1 <= a < 8
  Term from_two;    // in [-1, 1]
  Term from_one;    // the same and 1, exact
};

Reduced reduced(const Term& a) {
  const Term below_one = a < 1;
  Term y = a, product = where(a >= 3, a - 1, 1);
  y = where(a >= 3, a - 1, a);
  // The derivative of the logarithm of a product, (fg)' / fg, over one denominator.
  Term rise = where(a >= 3, Term(1.0), 0);
  for (int step = 1; step < 5; ++step) {
    const Term goes_on = y >= 3, next = y - 1;
    rise = where(goes_on, rise * next + product, rise);
    product = where(goes_on, product * next, product);
    y = where(goes_on, next, y);
  }
  return {below_one, product, rise / product, where(below_one, a - 1, y - 2),
          where(below_one, a, y - 1)};
}

// log(gamma(2 + from_two)), with its zeros at 1 and 2.
Term log_gamma_near_two(const Reduced& at) {
  return at.from_one * at.from_two * polynomial(at.from_two, coefficients::log_gamma_near_two);
}

// |sin(pi a)| and the like are of a's distance from the nearest integer, which is exact.
Term from_integer(const Term& a) { return a - round(a); }

// The cotangent of pi a, 0 and infinite exactly where it should be.
Term cotangent_of_pi(const Term& a) {
  const Term rest = from_integer(a), distance = abs(rest);
  const Term is_near = distance < 0.25;
  const Term tangent = tan(pi * where(is_near, distance, 0.5 - distance));
  const Term cotangent = where(is_near, 1 / where(is_near, tangent, 1), tangent);
  return where(rest < 0, -cotangent, cotangent);
}

// gamma(a) for a >= 0 as a product of two factors, neither of which overflows where the product
// does not; for the reflection the first is of gamma(a + 1) where a < 1.
struct Factors {
  Term first, second, below_one;
};

Factors gamma_of_positive(const Term& any) {
  // The product is infinite from 171.7 on.
  const Term is_small = any < 8, a = minimum(where(is_small, 8, any), 250);
  const Reduced at = reduced(where(is_small, any, 2));
  const Term small = exp(log_gamma_near_two(at)) * at.product;
  // Stirling: a^(a - 0.5) e^-a sqrt(2 pi), the power in two halves.
  const Term half = pow(a, 0.5 * a - 0.25);
  const Term large = half * exp(-a) * (std::sqrt(2 * pi) * exp(special::stirling_rest(a)));
  return {where(is_small, small, large), where(is_small, 1, half), at.below_one};
}

}  // namespace

Term special::stirling_rest(const Term& x) {
  return polynomial(1 / (x * x), coefficients::log_gamma_tail) / x;
}

Term special::log_gamma(const Term& x) {
  const Term a = magnitude(x), is_small = a < 8;
  const Reduced at = reduced(where(is_small, a, 2));
  const Term near = log_gamma_near_two(at);
  const Term log_of = log(where(is_small & !at.below_one, at.product, a));
  const Term large = where(is_small, 8, a);
  const Term stirling =
      (large - 0.5) * (log_of - 1) + (0.5 * std::log(2 * pi) - 0.5) + stirling_rest(large);
  // log(gamma(a)), but of gamma(a + 1) where a < 1.
  const Term upper = where(is_small, where(at.below_one, near, near + log_of), stirling);
  // gamma(-a) gamma(a) = -pi / (a sin(pi a)), and a gamma(a) = gamma(a + 1).
  const Term sine = abs(sin(pi * where(x < 0, from_integer(a), 0.5)));
  const Term reflected = std::log(pi) - log(where(at.below_one, sine, a * sine)) - upper;
  const Term positive = where(at.below_one, near - log_of, upper);
  return where((a == infinity) | (sine == 0), infinity, where(x < 0, reflected, positive));
}

Term special::digamma(const Term& x) {
  const Term a = magnitude(x), is_small = a < 8;
  const Reduced at = reduced(where(is_small, a, 2));
  constexpr double root = coefficients::digamma_root, rest = coefficients::digamma_root_rest;
  const Term from_root = (at.from_one - (root - 1)) - rest;
  const Term near = from_root * polynomial(at.from_two, coefficients::digamma_near_two);
  const Term b = where(is_small, 8, a), w = 1 / (b * b);
  const Term large = log(b) - 0.5 / b - w * polynomial(w, coefficients::digamma_tail);
  // Of a, but of a + 1 where a < 1.
  const Term upper = where(is_small, where(at.below_one, near, near + at.derivative), large);
  const Term reciprocal = 1 / a;
  // digamma(-a) = digamma(a + 1) + pi cot(pi a).
  const Term cotangent = cotangent_of_pi(where(x < 0, a, 0.25));
  const Term reflected = where(at.below_one, upper, upper + reciprocal) + pi * cotangent;
  const Term positive = where(at.below_one, upper - reciprocal, upper);
  const Term is_pole = (x <= 0) & (x == floor(x));
  return where(is_pole, not_a_number, where(x < 0, reflected, positive));
}

Array lgamma(const Operand& x) {
  const Term given = term("lgamma", x);
  return as_dtype_of(given, special::log_gamma(in_f64(given)));
}

Array digamma(const Operand& x) {
  const Term given = term("digamma", x);
  return as_dtype_of(given, special::digamma(in_f64(given)));
}

Array gamma(const Operand& x) {
  const Term given = term("gamma", x), y = in_f64(given), a = magnitude(y);
  const auto [first, second, below_one] = gamma_of_positive(a);
  const Term positive = where(below_one, first / a, first * second);
  // gamma(-a) gamma(a) = -pi / (a sin(pi a)); the sine's sign is that of odd integers below a.
  const Term rest = from_integer(a), sine = sin(pi * rest);
  const Term nearest = round(a), is_odd = (nearest * 0.5) != floor(nearest * 0.5);
  const Term turned = where(is_odd, sine, -sine);
  const Term divisor = where(y < 0, where(below_one, turned, turned * a), 1);
  const Term reflected = pi / divisor / first / second;
  const Term at_zero = 1 / y;
  const Term is_pole = (y < 0) & (rest == 0);
  return as_dtype_of(given, where(y == 0, at_zero,
                                  where(is_pole | (y == -infinity), not_a_number,
                                        where(y < 0, reflected, positive))));
}

Term special::log_beta(const Term& x, const Term& y) {
  const Term low = where(x < y, x, y), high = where(x < y, y, x);
  const Term first = log_gamma(low);
  const Term plain = first + log_gamma(high) - log_gamma(low + high);
  // Stirling's formula for log(gamma(high) / gamma(low + high)), the large terms taken together
  // (Didonato and Morris, ACM TOMS 708, 1992: algdiv).
  const Term is_small = high < 8;
  const Term a = where(is_small, 1, low), b = where(is_small, 8, high), sum = a + b;
  const Term quotient =
      a - (sum - 0.5) * log1p(a / b) - a * log(b) + stirling_rest(b) - stirling_rest(sum);
  return where(is_small, plain, first + quotient);
}

Array beta(const Operand& a, const Operand& b) {
  auto [x, y] = terms_of("beta", a, b);
  return as_dtype_of(x, exp(special::log_beta(in_f64(x), in_f64(y))));
}

Array betaln(const Operand& a, const Operand& b) {
  auto [x, y] = terms_of("betaln", a, b);
  return as_dtype_of(x, special::log_beta(in_f64(x), in_f64(y)));
}

}  // namespace anabranch
