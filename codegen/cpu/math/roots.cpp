// Roots.
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// 1 / sqrt(x) to 14 bits, subnormal numbers included. Only where x.has_avx512().
Simd estimated_rsqrt(Simd x) {
  llvm::IRBuilderBase& b = x.builder();
  return x.with(b.CreateIntrinsic(x.pick(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512,
                                         llvm::Intrinsic::x86_avx512_rsqrt14_pd_512),
                                  {}, {x.value(), x.value(), x.all_lanes()}));
}

// A zero of either sign, or infinity. Only where x.has_avx512().
Simd is_zero_or_infinity(Simd x) {
  llvm::IRBuilderBase& b = x.builder();
  constexpr int positive_zero = 2, negative_zero = 4, positive_infinity = 8;  // of VFPCLASS
  return x.with(b.CreateIntrinsic(
      x.pick(llvm::Intrinsic::x86_avx512_fpclass_ps_512,
             llvm::Intrinsic::x86_avx512_fpclass_pd_512),
      {}, {x.value(), b.getInt32(positive_zero | negative_zero | positive_infinity)}));
}

// Correctly rounded, on Intel's CPUs in a third of the instruction's time: g goes to sqrt(x) and h
// to 1 / (2 sqrt(x)) by Goldschmidt's iteration, and the residual x - g^2, which is exact, decides
// the last bit (P. Markstein, "IA-64 and Elementary Functions", 2000, 9.2).
Simd sqrt_by_products(Simd given) {
  // So that the residual is no subnormal number.
  const Simd is_small = given < given.pick(0x1p-100, 0x1p-900);
  const Simd x = select(is_small, given * given.pick(0x1p60, 0x1p256), given);
  const Simd y = estimated_rsqrt(x);
  Simd g = x * y, h = y * 0.5;
  for (int i = 0; i < x.pick(1, 2); ++i) {
    const Simd r = fma(-g, h, x.constant(0.5));
    g = fma(g, r, g);
    h = fma(h, r, h);
  }
  g = fma(h, fma(-g, g, x), g);
  g = select(is_small, g * x.pick(0x1p-30, 0x1p-128), g);
  return select(is_zero_or_infinity(given), given, g);
}

}  // namespace

Simd sqrt_alone(Simd x) {
  const llvm::Module& module = *x.builder().GetInsertBlock()->getModule();
  const bool is_slow = x.has_avx512() && !module.getModuleFlag(fast_root_flag);
  return is_slow ? sqrt_by_products(x) : sqrt(x);
}

// The instruction for the root would wait for the one for the division.
Simd rsqrt(Simd x) { return 1 / (x.has_avx512() ? sqrt_by_products(x) : sqrt(x)); }

Simd cbrt(Simd x) {
  Simd magnitude = abs(x);
  Simd low = magnitude < x.pick(0x1p-126, 0x1p-1022);
  Simd a = select(low, magnitude * x.pick(0x1p24, 0x1p54), magnitude);
  // y = a^(-1/3): dividing the bits by -3 is right to 4% (as in W. Kahan, "Computing a real cube
  // root").
  Simd bits = a.bits();
  Simd third = x.is_wide() ? shift_right_logical((bits >> 32) * 0x55555556, 32) << 32
                           : (bits.to_float() * (1.0 / 3)).to_integer();
  Simd y = (bits.constant(0x54a1f671, 0x553ee978d4fdf400) - third).as_float();
  // y (1 - h)^(-1/3), h = 1 - a y^3, as a series; once for f32, twice for f64.
  for (int i = 0; i < x.pick(1, 2); ++i) {
    Simd h = fma(a * y, -(y * y), a.constant(1));
    Simd series = fma(fma(h, 14.0 / 81, 2.0 / 9), h, 1.0 / 3);
    y = fma(y * h, series, y);
  }
  // One step of Newton's for r = a y^2, with the residual a - r^3 in full.
  Simd yy = y * y;
  Simd r = a * yy;
  Simd rr = r * r;
  Simd residual = fma(-fma(r, r, -rr), r, fma(-rr, r, a));
  r = fma(residual, yy * (1.0 / 3), r);
  r = select(low, r * x.pick(0x1p-8, 0x1p-18), r);
  return select(at_least_or_nan(magnitude, infinity), x, copysign(r, x));
}

}  // namespace anabranch::cpu::math
