// What the special functions are written with: wide terms, and polynomials of them.
//
// Their terms are f64 whatever their operand is: in f32 a few roundings of intermediate results
// would cost more than 4 ULP, and one polynomial of double precision serves every dtype.
//
// A branch of `where` that is not taken is computed for an argument of its own domain: reverse mode
// multiplies its derivative by 0, which must not be infinite.
#pragma once

#include <limits>
#include <span>
#include <utility>

#include "frontend/ops/term.h"

namespace anabranch {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

#define SPECIAL_UNARY(function)                                   \
  inline Term function(const Term& x) {                           \
    return {function(static_cast<const Operand&>(x)), x.where()}; \
  }
SPECIAL_UNARY(sin)
SPECIAL_UNARY(tan)
SPECIAL_UNARY(expm1)
SPECIAL_UNARY(isnan)
SPECIAL_UNARY(reciprocal)
#undef SPECIAL_UNARY

inline Term pow(const Term& a, const Term& b) {
  return {pow(static_cast<const Operand&>(a), static_cast<const Operand&>(b)), a.where()};
}

inline Term operator^(const Term& a, const Term& b) {
  return {static_cast<const Operand&>(a) ^ static_cast<const Operand&>(b), a.where()};
}

inline Term in_f64(const Term& x) { return x.array().dtype() == f64 ? x : converted(x, f64); }
/// The result of such a function in the dtype of its operand x.
inline Array as_dtype_of(const Term& x, const Term& result) {
  const Dtype dtype = x.array().dtype();
  return dtype == result.array().dtype() ? result : converted(result, dtype);
}

/// x as it is, but what it meets next does not change its dtype, as it would that of a number.
Term with_own_dtype(const Term& x);

/// Both operands of one dtype and one shape; a number beside an array is of its dtype for good.
std::pair<Term, Term> terms_of(const char* function, const Operand& a, const Operand& b,
                               Takes takes = Takes::floats);

/// The sum of coefficients[i] * x^i, by Horner's rule.
Term polynomial(const Term& x, std::span<const double> coefficients);

/// x with the lower half of its significand zero, so that its square has no rounding error; f64.
Term upper_half(const Term& x);

// What one file of the special functions asks of another, all f64.
namespace special {

Term log_gamma(const Term& x);
Term digamma(const Term& x);
/// log(gamma(a) gamma(b) / gamma(a + b)).
Term log_beta(const Term& a, const Term& b);
/// Stirling's correction: log(gamma(x)) - (x - 0.5) log(x) + x - log(2 pi) / 2, for x >= 8.
Term stirling_rest(const Term& x);
/// erfc(x) e^(x^2) for x >= 0.
Term erfcx_of_positive(const Term& x);

}  // namespace special
}  // namespace anabranch
