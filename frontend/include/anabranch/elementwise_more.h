// Further functions of each element: parts of numbers, comparisons with a tolerance, angles,
// divisors.
#pragma once

#include <utility>

#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {

// --- comparisons ---------------------------------------------------------------------------------

Array isposinf(const Operand& x);  ///< infinite and above 0; false for integers
Array isneginf(const Operand& x);  ///< infinite and below 0; false for integers
/// |a - b| <= absolute + relative |b|, or equal (infinities); NaN is close to NaN only where asked
/// for. Integers are compared as f64.
Array isclose(const Operand& a, const Operand& b, double relative = 1e-5, double absolute = 1e-8,
              bool equal_nan = false);
/// Whether all are: a bool scalar.
Array allclose(const Operand& a, const Operand& b, double relative = 1e-5, double absolute = 1e-8,
               bool equal_nan = false);
/// Whether shapes and all elements are equal: a bool scalar.
Array array_equal(const Operand& a, const Operand& b);
Array fmax(const Operand& a, const Operand& b);  ///< the greater, or the one that is no NaN
Array fmin(const Operand& a, const Operand& b);  ///< the lesser, or the one that is no NaN
Array heaviside(const Operand& x, const Operand& at_zero);  ///< 0 below 0, 1 above, floats

// --- parts of floats -----------------------------------------------------------------------------

/// x = mantissa * 2^exponent, 0.5 <= |mantissa| < 1; the exponent is i32. Zeros, infinities and NaN
/// are their own mantissa, the exponent being 0.
struct MantissaAndExponent {
  Array mantissa, exponent;
};
MantissaAndExponent frexp(const Operand& x);
/// x * 2^exponent, rounded once; the exponents are integers.
Array ldexp(const Operand& x, const Operand& exponent);
/// What follows the point, and the rest, both with the sign of x.
struct FractionAndWhole {
  Array fraction, whole;
};
FractionAndWhole modf(const Operand& x);

// --- quotients -----------------------------------------------------------------------------------

struct QuotientAndRemainder {
  Array quotient, remainder;
};
/// floor_divide(a, b) and remainder(a, b).
QuotientAndRemainder divmod(const Operand& a, const Operand& b);
/// The greatest common divisor of integers, at least 0; gcd(0, 0) is 0. A loop, which is not fused.
Array gcd(const Operand& a, const Operand& b);
/// The least common multiple of integers, at least 0; 0 where either is 0. See `gcd`.
Array lcm(const Operand& a, const Operand& b);

// --- logarithms and angles -----------------------------------------------------------------------

Array logaddexp2(const Operand& a, const Operand& b);  ///< log2(2^a + 2^b), floats
Array deg2rad(const Operand& x);                       ///< x pi / 180
Array rad2deg(const Operand& x);                       ///< x 180 / pi

}  // namespace anabranch
