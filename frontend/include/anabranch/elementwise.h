// Functions of each element: arithmetic, comparisons, bits, elementary functions.
//
// They take arrays and C++ numbers, bring them to one dtype (promote.h) and one shape by NumPy's
// broadcasting, and throw Error at the call where that fails. Names are the Python Array API
// standard's.
#pragma once

#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {

// --- arithmetic ----------------------------------------------------------------------------------

Array add(const Operand& a, const Operand& b);       ///< a + b; integers wrap
Array subtract(const Operand& a, const Operand& b);  ///< a - b; integers wrap
Array multiply(const Operand& a, const Operand& b);  ///< a * b; integers wrap
Array divide(const Operand& a, const Operand& b);    ///< a / b; integers truncate, as in C++
/// The greatest whole number not above a / b. The quotient of floats fits the `remainder`, as in
/// NumPy: floor_divide(1, 0.1) is 9, since the float 0.1 is a little more than a tenth.
Array floor_divide(const Operand& a, const Operand& b);
/// a - b * floor_divide(a, b): between 0 and b, of floats with the sign of b where it is 0.
Array remainder(const Operand& a, const Operand& b);
Array fmod(const Operand& a, const Operand& b);       ///< a - b * trunc(a / b): the sign of a
Array pow(const Operand& a, const Operand& b);        ///< a to the power of b
Array maximum(const Operand& a, const Operand& b);    ///< the greater; NaN if either is NaN
Array minimum(const Operand& a, const Operand& b);    ///< the lesser; NaN if either is NaN
Array atan2(const Operand& y, const Operand& x);      ///< the angle of the point (x, y), floats
Array hypot(const Operand& a, const Operand& b);      ///< sqrt(a^2 + b^2) without overflow, floats
Array logaddexp(const Operand& a, const Operand& b);  ///< log(e^a + e^b), floats
Array copysign(const Operand& a, const Operand& b);   ///< |a| with the sign bit of b, floats

Array abs(const Operand& x);         ///< |x|
Array negative(const Operand& x);    ///< -x
Array positive(const Operand& x);    ///< x itself
Array sign(const Operand& x);        ///< -1, 0 or 1; NaN stays NaN
Array square(const Operand& x);      ///< x * x
Array reciprocal(const Operand& x);  ///< 1 / x, floats
Array clip(const Operand& x, const Operand& low, const Operand& high);  ///< x held between the two
Array where(const Operand& condition, const Operand& x,
            const Operand& y);  ///< x where true, else y

// --- comparisons and logic: bool arrays
// ------------------------------------------------------------

Array equal(const Operand& a, const Operand& b);          ///< a == b
Array not_equal(const Operand& a, const Operand& b);      ///< a != b
Array less(const Operand& a, const Operand& b);           ///< a < b
Array less_equal(const Operand& a, const Operand& b);     ///< a <= b
Array greater(const Operand& a, const Operand& b);        ///< a > b
Array greater_equal(const Operand& a, const Operand& b);  ///< a >= b
Array logical_and(const Operand& a, const Operand& b);    ///< both, of bools
Array logical_or(const Operand& a, const Operand& b);     ///< either, of bools
Array logical_xor(const Operand& a, const Operand& b);    ///< one of the two, of bools
Array logical_not(const Operand& x);                      ///< not, of bools
Array isfinite(const Operand& x);                         ///< neither infinite nor NaN
Array isinf(const Operand& x);                            ///< infinite; false for integers
Array isnan(const Operand& x);                            ///< not a number; false for integers
Array signbit(const Operand& x);  ///< whether the sign bit is set (-0, -NaN), of floats

/// NaN replaced by `nan`, and infinities by the greatest and least finite numbers, of floats.
Array nan_to_num(const Operand& x, double nan = 0);

// --- bits: integers and bool
// -----------------------------------------------------------------------

Array bitwise_and(const Operand& a, const Operand& b);         ///< a & b
Array bitwise_or(const Operand& a, const Operand& b);          ///< a | b
Array bitwise_xor(const Operand& a, const Operand& b);         ///< a ^ b
Array bitwise_invert(const Operand& x);                        ///< ~x
Array bitwise_left_shift(const Operand& a, const Operand& b);  ///< a * 2^b; 0 past the width
Array bitwise_right_shift(const Operand& a,
                          const Operand& b);  ///< a shifted; the sign of a comes in
Array bitwise_count(const Operand& x);        ///< how many bits are one
Array count_leading_zeros(const Operand& x);  ///< how many bits are above the first one

// --- elementary functions of floats, within 2 ULP
// ----------------------------------------------------

Array exp(const Operand& x);     ///< e^x
Array expm1(const Operand& x);   ///< e^x - 1, exact near 0
Array exp2(const Operand& x);    ///< 2^x
Array log(const Operand& x);     ///< the natural logarithm
Array log1p(const Operand& x);   ///< log(1 + x), exact near 0
Array log2(const Operand& x);    ///< log(x) / log(2)
Array log10(const Operand& x);   ///< log(x) / log(10)
Array sqrt(const Operand& x);    ///< the square root, correctly rounded
Array rsqrt(const Operand& x);   ///< 1 / sqrt(x)
Array cbrt(const Operand& x);    ///< the cube root
Array sin(const Operand& x);     ///< the sine of radians
Array cos(const Operand& x);     ///< the cosine of radians
Array tan(const Operand& x);     ///< the tangent of radians
Array asin(const Operand& x);    ///< the angle in [-pi/2, pi/2] with that sine
Array acos(const Operand& x);    ///< the angle in [0, pi] with that cosine
Array atan(const Operand& x);    ///< the angle in [-pi/2, pi/2] with that tangent
Array sinh(const Operand& x);    ///< (e^x - e^-x) / 2
Array cosh(const Operand& x);    ///< (e^x + e^-x) / 2
Array tanh(const Operand& x);    ///< sinh(x) / cosh(x)
Array asinh(const Operand& x);   ///< the inverse of sinh
Array acosh(const Operand& x);   ///< the inverse of cosh, at least 0
Array atanh(const Operand& x);   ///< the inverse of tanh
Array erf(const Operand& x);     ///< the error function
Array erfinv(const Operand& x);  ///< the inverse of the error function

Array floor(const Operand& x);  ///< the greatest integer not above x; integers stay
Array ceil(const Operand& x);   ///< the least integer not below x; integers stay
Array round(const Operand& x);  ///< the nearest integer, ties to even; integers stay
Array trunc(const Operand& x);  ///< the nearest integer toward zero; integers stay

// --- element types
// ---------------------------------------------------------------------------------

Array astype(const Operand& x, Dtype dtype);  ///< each element converted; see Array::astype

// --- operators
// -------------------------------------------------------------------------------------

inline Array operator+(const Operand& a, const Operand& b) { return add(a, b); }
inline Array operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
inline Array operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
inline Array operator/(const Operand& a, const Operand& b) { return divide(a, b); }
/// As in C++ the sign of a % b is a's, so that (a / b) * b + a % b is a; Python's is `remainder`.
inline Array operator%(const Operand& a, const Operand& b) { return fmod(a, b); }
inline Array operator+(const Operand& x) { return positive(x); }
inline Array operator-(const Operand& x) { return negative(x); }
inline Array operator==(const Operand& a, const Operand& b) { return equal(a, b); }
inline Array operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }
inline Array operator<(const Operand& a, const Operand& b) { return less(a, b); }
inline Array operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
inline Array operator>(const Operand& a, const Operand& b) { return greater(a, b); }
inline Array operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
inline Array operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
inline Array operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
inline Array operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
inline Array operator~(const Operand& x) { return bitwise_invert(x); }
inline Array operator!(const Operand& x) { return logical_not(x); }
inline Array operator<<(const Operand& a, const Operand& b) { return bitwise_left_shift(a, b); }
inline Array operator>>(const Operand& a, const Operand& b) { return bitwise_right_shift(a, b); }

/// Compound assignment makes a new array and rebinds the handle; other handles keep the old one.
inline Array& operator+=(Array& a, const Operand& b) { return a = add({a, b.where()}, b); }
inline Array& operator-=(Array& a, const Operand& b) { return a = subtract({a, b.where()}, b); }
inline Array& operator*=(Array& a, const Operand& b) { return a = multiply({a, b.where()}, b); }
inline Array& operator/=(Array& a, const Operand& b) { return a = divide({a, b.where()}, b); }
inline Array& operator%=(Array& a, const Operand& b) { return a = fmod({a, b.where()}, b); }
inline Array& operator&=(Array& a, const Operand& b) { return a = bitwise_and({a, b.where()}, b); }
inline Array& operator|=(Array& a, const Operand& b) { return a = bitwise_or({a, b.where()}, b); }
inline Array& operator^=(Array& a, const Operand& b) { return a = bitwise_xor({a, b.where()}, b); }
inline Array& operator<<=(Array& a, const Operand& b) {
  return a = bitwise_left_shift({a, b.where()}, b);
}
inline Array& operator>>=(Array& a, const Operand& b) {
  return a = bitwise_right_shift({a, b.where()}, b);
}

}  // namespace anabranch
