// Complex numbers: made of their parts, and taken apart.
//
// Arithmetic, exp, log, the trigonometric functions, sum, matmul and the like (elementwise.h,
// reduce.h, linear_algebra.h) take complex arrays too. A std::complex number beside an array of
// floats makes the result complex.
#pragma once

#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {

/// re + im * i: c64 of f32, c128 of f64, broadcast to one shape. Throws Error for other dtypes.
Array complex(const Operand& re, const Operand& im);
/// The real part, f32 of c64 and f64 of c128; real numbers are their own.
Array real(const Operand& z);
/// The imaginary part; of real numbers zeros of their dtype.
Array imag(const Operand& z);
/// real(z) - imag(z) * i; real numbers are their own.
Array conj(const Operand& z);
/// The angle of z in [-pi, pi], 0 along the positive real axis (NumPy's angle). Throws Error for
/// integers and bool.
Array angle(const Operand& z);

}  // namespace anabranch
