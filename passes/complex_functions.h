// Functions of complex numbers as formulas on their real and imaginary parts.
//
// Parts are f64. Where the numbers were c64 (`narrow`) no square over- or underflows and products
// of two are exact, which makes formulas short. Infinities, NaN, zeros of both signs and branch
// cuts are as ISO C, Annex G, has them, where it says anything.
#pragma once

#include "passes/real_parts.h"

namespace anabranch::complex_functions {

/// The distance from 0; infinite where either part is.
Part absolute(const Parts& z, bool narrow);
Parts divide(const Parts& x, const Parts& y, bool narrow);
/// z / |z|, and 0 of 0.
Parts sign(const Parts& z, bool narrow);
Parts square_root(const Parts& z, bool narrow);
Parts reciprocal_square_root(const Parts& z, bool narrow);
Parts exponential(const Parts& z, bool narrow);
Parts exponential_minus_one(const Parts& z, bool narrow);
Parts logarithm(const Parts& z, bool narrow);
Parts log_plus_one(const Parts& z, bool narrow);
Parts logistic(const Parts& z, bool narrow);
/// exp(y log x); 1 where y is 0; where x is 0, 0 for a y of positive real part, else NaN.
Parts power(const Parts& x, const Parts& y, bool narrow);

Parts hyperbolic_sine(const Parts& z, bool narrow);
Parts hyperbolic_cosine(const Parts& z, bool narrow);
Parts hyperbolic_tangent(const Parts& z, bool narrow);
Parts sine(const Parts& z, bool narrow);
Parts cosine(const Parts& z, bool narrow);
Parts tangent(const Parts& z, bool narrow);

/// T. Hull, T. Fairgrieve and P. Tang, "Implementing the complex arcsine and arccosine functions
/// using exception handling", ACM TOMS 23(3), 1997.
Parts arc_sine(const Parts& z, bool narrow);
Parts arc_cosine(const Parts& z, bool narrow);
/// W. Kahan, "Branch cuts for complex elementary functions", 1987.
Parts inverse_hyperbolic_tangent(const Parts& z, bool narrow);
Parts inverse_hyperbolic_sine(const Parts& z, bool narrow);
Parts inverse_hyperbolic_cosine(const Parts& z, bool narrow);
Parts arc_tangent(const Parts& z, bool narrow);

}  // namespace anabranch::complex_functions
