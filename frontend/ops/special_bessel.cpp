// Modified Bessel functions of the first kind.
#include <cmath>

#include "anabranch/special.h"
#include "frontend/ops/special_coefficients.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

// I(x) for |x| <= 8, and e^-x sqrt(x) I(x) beyond.
struct Bessel {
  struct Arguments {
    explicit Arguments(const Term& a)
        : is_small(a <= 8),
          small(where(is_small, a, 1)),
          large(where(is_small, 16, a)),
          quarter(0.25 * small * small) {}
    Term is_small, small, large, quarter;
  };
  Arguments at;
  Term small, large;
};

Bessel order_zero(const Term& a) {
  const Bessel::Arguments at(a);
  return {at, 1 + at.quarter * polynomial(at.quarter, coefficients::bessel_i0_small),
          polynomial(16 / at.large - 1, coefficients::bessel_i0_large)};
}

Bessel order_one(const Term& x) {
  const Bessel::Arguments at(magnitude(x));
  return {at, 0.5 * at.small * polynomial(at.quarter, coefficients::bessel_i1_small),
          polynomial(16 / at.large - 1, coefficients::bessel_i1_large)};
}

Term scaled(const Bessel& of) {
  return where(of.at.is_small, of.small * exp(-of.at.small), of.large / sqrt(of.at.large));
}

Term unscaled(const Bessel& of) {
  // e^a overflows before I(a) does, which is from 714 on; a - 10 is exact.
  const Term a = minimum(of.at.large, 800), exponential = exp(a - 10);
  return where(of.at.is_small, of.small, of.large / sqrt(a) * exponential * std::exp(10.0));
}

Term odd(const Term& x, const Term& of_magnitude) {
  return where(x < 0, -of_magnitude, of_magnitude);
}

}  // namespace

Array bessel_i0(const Operand& x) {
  const Term given = term("bessel_i0", x), y = in_f64(given);
  return as_dtype_of(given, unscaled(order_zero(magnitude(y))));
}

Array bessel_i0e(const Operand& x) {
  const Term given = term("bessel_i0e", x), y = in_f64(given);
  return as_dtype_of(given, scaled(order_zero(abs(y))));
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
