// The approximate ops in wider arithmetic: what the inline code is measured against.
#pragma once

#include <quadmath.h>

#include <cmath>

#include "ir/op.h"

namespace anabranch::test {

using Quad = __float128;
inline const Quad pi = 4 * atanq(1);

/// One op of one operand, in double for the test of f32 and in quadruple for the test of f64.
struct UnaryReference {
  Op op;
  double (*f32)(double);
  Quad (*f64)(Quad);
};

/// By Halley's iteration on erf, or on erfc where x is close to 1, from Winitzki's approximation.
inline Quad erf_inv_quad(Quad x) {
  const Quad a = fabsq(x);
  if (a > 1 || isnanq(x)) return nanq("");
  if (a == 1) return copysignq(Quad(HUGE_VAL), x);
  if (a == 0) return x;
  if (a < Quad(1e-25)) return x * (sqrtq(pi) / 2);
  const Quad l = log1pq(-a * a), c = 2 / (pi * Quad(0.147)) + l / 2;
  Quad y = sqrtq(sqrtq(c * c - l / Quad(0.147)) - c);
  for (int i = 0; i < 4; ++i) {
    const Quad error = a < Quad(0.5) ? erfq(y) - a : (1 - a) - erfcq(y);
    const Quad step = error * sqrtq(pi) / 2 * expq(y * y);
    y -= step / (1 + y * step);
  }
  return copysignq(y, x);
}

inline double erf_inv_double(double x) { return static_cast<double>(erf_inv_quad(x)); }

inline const UnaryReference unary_references[] = {
    {Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }, [](Quad x) { return 1 / sqrtq(x); }},
    {Op::cbrt, std::cbrt, cbrtq},
    {Op::exponential, std::exp, expq},
    {Op::exponential_minus_one, std::expm1, expm1q},
    {Op::log, std::log, logq},
    {Op::log_plus_one, std::log1p, log1pq},
    {Op::logistic, [](double x) { return 1 / (1 + std::exp(-x)); },
     [](Quad x) { return 1 / (1 + expq(-x)); }},
    {Op::sine, std::sin, sinq},
    {Op::cosine, std::cos, cosq},
    {Op::tan, std::tan, tanq},
    {Op::asin, std::asin, asinq},
    {Op::acos, std::acos, acosq},
    {Op::atan, std::atan, atanq},
    {Op::sinh, std::sinh, sinhq},
    {Op::cosh, std::cosh, coshq},
    {Op::tanh, std::tanh, tanhq},
    {Op::asinh, std::asinh, asinhq},
    {Op::acosh, std::acosh, acoshq},
    {Op::atanh, std::atanh, atanhq},
    {Op::erf, std::erf, erfq},
    {Op::erf_inv, erf_inv_double, erf_inv_quad},
};

struct BinaryReference {
  Op op;
  double (*f32)(double, double);
  Quad (*f64)(Quad, Quad);
};

inline const BinaryReference binary_references[] = {
    {Op::power, std::pow, powq},
    {Op::atan2, std::atan2, atan2q},
};

}  // namespace anabranch::test
