// Modified Bessel functions of the first kind.
#include <cmath>

#include "anabranch/special.h"
#include "frontend/ops/special_coefficients.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// I(x) for |x| <= 8, and e^-x sqrt(x) I(x) beyond.
struct Bessel {
  Term a, small, large;
};

Bessel order_zero(const Term& x) {
  const Term a = abs(x), quarter = 0.25 * a * a;
  return {a, 1 + quarter * polynomial(quarter, coefficients::bessel_i0_small),
          polynomial(16 / a - 1, coefficients::bessel_i0_large)};
}

Bessel order_one(const Term& x) {
  const Term a = abs(x), quarter = 0.25 * a * a;
  return {a, 0.5 * a * polynomial(quarter, coefficients::bessel_i1_small),
          polynomial(16 / a - 1, coefficients::bessel_i1_large)};
}

Term scaled(const Bessel& at) {
  return where(at.a <= 8, at.small * exp(-at.a), at.large / sqrt(at.a));
}

Term unscaled(const Bessel& at) {
  // e^a overflows before I(a) does, which is from 714 on; a - 10 is exact.
  const Term a = minimum(at.a, 800), exponential = exp(a - 10);
  return where(a <= 8, at.small, at.large / sqrt(a) * exponential * std::exp(10.0));
}

Term odd(const Term& x, const Term& of_magnitude) {
  return where(x < 0, -of_magnitude, where(x == 0, x, of_magnitude));
}

}  // namespace

Array bessel_i0(const Operand& x) {
  const Term given = term("bessel_i0", x), y = in_f64(given);
  return as_dtype_of(given, unscaled(order_zero(y)));
}

Array bessel_i0e(const Operand& x) {
  const Term given = term("bessel_i0e", x), y = in_f64(given);
  return as_dtype_of(given, scaled(order_zero(y)));
}

Array bessel_i1(const Operand& x) {
  const Term given = term("bessel_i1", x), y = in_f64(given);
  return as_dtype_of(given, odd(y, unscaled(order_one(y))));
}

Array bessel_i1e(const Operand& x) {
  const Term given = term("bessel_i1e", x), y = in_f64(given);
  return as_dtype_of(given, odd(y, scaled(order_one(y))));
}

}  // namespace anabranch
