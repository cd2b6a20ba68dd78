// Special functions of each element, of floats, under SciPy's and CHLO's names.
//
// They are made of other operations, and so are fused with what is around them; all but the
// simplest compute in f64 and round once. Errors stated as ULP (units in the last place) are of
// every float dtype. `erf` and `erfinv` are in anabranch/elementwise.h.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {

// --- error functions, within 4 ULP ---------------------------------------------------------------
// By a polynomial for (1 + 2x) e^(x^2) erfc(x) over all x >= 0 (Shepherd and Laframboise, Math.
// Comp. 36, 1981); the square in the exponent is taken exactly.

Array erfc(const Operand& x);      ///< 1 - erf(x), without the loss of the subtraction
Array erfcx(const Operand& x);     ///< e^(x^2) erfc(x)
Array ndtr(const Operand& x);      ///< the standard normal distribution, P(X <= x)
Array log_ndtr(const Operand& x);  ///< log(ndtr(x)), far below where ndtr is 0, too
Array ndtri(const Operand& p);     ///< the inverse of ndtr; NaN outside [0, 1]

// --- the gamma function and its kin --------------------------------------------------------------

/// The gamma function; NaN at negative integers, infinite at 0 with the sign of the zero. Within 8
/// ULP.
Array gamma(const Operand& x);
/// log(|gamma(x)|); infinite at 0 and at negative integers. Within 4 ULP for x > 0; for x < 0
/// within 4 ULP of the greatest of its terms, as by the reflection formula (Abramowitz and
/// Stegun 6.1.17). Stirling's series from 8 on, below by recurrence from a polynomial around 2 that
/// keeps the zeros at 1 and 2.
Array lgamma(const Operand& x);
/// The derivative of lgamma; NaN at 0 and at negative integers. Within 4 ULP for x > 0; for x < 0
/// within 4 ULP of the greatest of its terms, as by reflection (Abramowitz and Stegun 6.3.7).
Array digamma(const Operand& x);
/// The derivative of that order of digamma, the order being an integer number or array of floats of
/// at least 0; NaN for others. Made of `zeta` (Abramowitz and Stegun 6.4.10), within 8 ULP for x >
/// 0.
Array polygamma(const Operand& order, const Operand& x);
/// Hurwitz's zeta function, the sum of (q + k)^-x over k = 0, 1, ... Infinite for x = 1 and for x
/// even where q is 0 or a negative integer; NaN for x < 1, for other x there, and where q < 0 and x
/// is no integer. By Euler and Maclaurin's formula, within 4 ULP for q > 0.
Array zeta(const Operand& x, const Operand& q);
/// gamma(a) gamma(b) / gamma(a + b), for a, b > 0.
Array beta(const Operand& a, const Operand& b);
/// log(beta(a, b)), for a, b > 0, without overflow.
Array betaln(const Operand& a, const Operand& b);
/// The regularized lower incomplete gamma function, for a > 0 and x >= 0; NaN outside. A series or
/// continued fraction (Numerical Recipes, 6.2), a loop, which is not fused, and Temme's expansion
/// for large a around x (DLMF 8.12). Within 1e-6 of f32's and 1e-11 of f64's value.
Array gammainc(const Operand& a, const Operand& x);
/// 1 - gammainc(a, x), without the loss of the subtraction.
Array gammaincc(const Operand& a, const Operand& x);
/// The regularized incomplete beta function, for a, b > 0 and x in [0, 1]; NaN outside. By a
/// continued fraction (ACM TOMS 708): a loop, which is not fused. Accuracy as of gammainc; NaN near
/// the mean for a, b > 1e10, where 20,000 turns are not enough.
Array betainc(const Operand& a, const Operand& b, const Operand& x);

// --- modified Bessel functions, within 4 ULP -----------------------------------------------------
// Up to 8 by the power series made shorter, beyond by polynomials in 1 / x of what remains once
// e^x / sqrt(x) is taken out (as Cephes does).

Array bessel_i0(const Operand& x);   ///< of the first kind and order 0
Array bessel_i0e(const Operand& x);  ///< e^-|x| bessel_i0(x)
Array bessel_i1(const Operand& x);   ///< of the first kind and order 1
Array bessel_i1e(const Operand& x);  ///< e^-|x| bessel_i1(x)

// --- logarithms of probabilities -----------------------------------------------------------------

Array expit(const Operand& x);                       ///< 1 / (1 + e^-x), see `sigmoid`
Array logit(const Operand& p);                       ///< log(p / (1 - p)), within 4 ULP
Array xlogy(const Operand& x, const Operand& y);     ///< x log(y), 0 where x is 0 and y no NaN
Array xlog1py(const Operand& x, const Operand& y);   ///< x log(1 + y), see `xlogy`
Array entr(const Operand& x);                        ///< -x log(x); 0 at 0, -inf below
Array rel_entr(const Operand& x, const Operand& y);  ///< x log(x / y) for x, y > 0; 0 at x = 0
Array kl_divergence(const Operand& x,
                    const Operand& y);  ///< rel_entr(x, y) - x + y (SciPy: kl_div)

/// sin(pi x) / (pi x), 1 at 0.
Array sinc(const Operand& x);

}  // namespace anabranch
