// The functions behind emit_math, one per approximate op, and the steps that they share.
#pragma once

#include <limits>

#include "codegen/cpu/math/value.h"

namespace anabranch::cpu::math {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

Simd exponential(Simd x);
Simd exponential_minus_one(Simd x);
Simd logistic(Simd x);
Simd sinh(Simd x);
Simd cosh(Simd x);
Simd tanh(Simd x);

Simd log(Simd x);
Simd log_plus_one(Simd x);
Simd asinh(Simd x);
Simd acosh(Simd x);
Simd atanh(Simd x);

Simd sine(Simd x);
Simd cosine(Simd x);
Simd tan(Simd x);
Simd asin(Simd x);
Simd acos(Simd x);
Simd atan(Simd x);
Simd atan2(Simd y, Simd x);

Simd erf(Simd x);
Simd erf_inv(Simd x);

/// The same number as sqrt(x), in the least time where a kernel computes little else.
Simd sqrt_alone(Simd x);
Simd rsqrt(Simd x);
Simd cbrt(Simd x);
Simd power(Simd x, Simd y);

/// x = k ln 2 + r, |r| <= ln(2) / 2. The low bits of `k` (integers) hold k in two's complement; the
/// high bits hold something else. `whole` is k as floats.
struct ExponentialReduction {
  Simd r, k, whole;
};
/// `bias` moves the interval of r down: k = round(x / ln 2 + bias).
ExponentialReduction reduce_exponential(Simd x, double bias = 0);

/// 2^k as floats, for k in the range of normal exponents; only the low bits of `k` count.
Simd power_of_two(Simd k);

/// x = 2^k (1 + f), |f| <= 1/3, for x positive and finite.
struct LogReduction {
  Simd f, k;  ///< both floats
};
LogReduction reduce_log(Simd x);

/// log(1 + f) + k ln 2.
Simd log_of_reduced(LogReduction reduced);

}  // namespace anabranch::cpu::math
