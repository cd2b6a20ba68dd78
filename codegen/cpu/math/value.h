// Simd: an llvm::Value with the operators of arithmetic, so that vector functions read as formulas.
#pragma once

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <span>
#include <type_traits>

namespace anabranch::cpu::math {

/// The module flag of a target that has AVX-512 F and DQ.
inline constexpr const char* avx512_flag = "anabranch.avx512";

/// The module flag of a target whose instruction for square roots takes no longer than
/// multiply-adds that give the same, and leaves room for others beside it (AMD's; on Intel's it
/// takes three times as long).
inline constexpr const char* fast_root_flag = "anabranch.fast_root";

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// One SSA value: floats (f32 or f64), integers of the same width, or a mask (i1); a scalar or a
/// fixed vector. Numbers that meet it in an expression become constants of its type.
class Simd {
 public:
  Simd(llvm::IRBuilderBase& builder, llvm::Value* value) : builder_(&builder), value_(value) {}

  llvm::IRBuilderBase& builder() const { return *builder_; }
  llvm::Value* value() const { return value_; }
  llvm::Type* type() const { return value_->getType(); }

  bool is_float() const { return type()->isFPOrFPVectorTy(); }
  /// Whether the lanes are 64 bits wide.
  bool is_wide() const { return type()->getScalarSizeInBits() == 64; }
  /// One of two facts about the format.
  template <class T>
  T pick(T narrow, T wide) const {
    return is_wide() ? wide : narrow;
  }
  /// Whether they are 512 bits of floats on AVX-512.
  bool has_avx512() const {
    const llvm::Module& module = *builder_->GetInsertBlock()->getModule();
    return is_float() && type()->isVectorTy() && type()->getPrimitiveSizeInBits() == 512 &&
           module.getModuleFlag(avx512_flag);
  }
  /// The mask with which an instruction of AVX-512 leaves out none. Only where has_avx512().
  llvm::Value* all_lanes() const {
    return is_wide() ? builder_->getInt8(0xff) : builder_->getInt16(0xffff);
  }
  int mantissa_bits() const { return pick(23, 52); }
  std::int64_t exponent_bias() const { return pick(127, 1023); }

  /// `number` in every lane.
  Simd constant(Number auto number) const {
    if (is_float()) return with(llvm::ConstantFP::get(type(), static_cast<double>(number)));
    return with(llvm::ConstantInt::get(type(), static_cast<std::uint64_t>(number)));
  }
  Simd constant(Simd lanes) const { return lanes; }
  Simd constant(Number auto narrow, Number auto wide) const {
    return is_wide() ? constant(wide) : constant(narrow);
  }
  Simd infinity() const { return with(llvm::ConstantFP::getInfinity(type())); }
  Simd nan() const { return with(llvm::ConstantFP::getNaN(type())); }

  /// The bits of floats as integers, and back.
  Simd bits() const { return with(builder_->CreateBitCast(value_, sibling(false))); }
  Simd as_float() const { return with(builder_->CreateBitCast(value_, sibling(true))); }
  /// Conversion of signed integers to floats of the same width, and (truncating) back.
  Simd to_float() const { return with(builder_->CreateSIToFP(value_, sibling(true))); }
  Simd to_integer() const { return with(builder_->CreateFPToSI(value_, sibling(false))); }
  /// Floats of the other width.
  Simd to_f64() const { return with(builder_->CreateFPExt(value_, like(builder_->getDoubleTy()))); }
  Simd to_f32() const {
    return with(builder_->CreateFPTrunc(value_, like(builder_->getFloatTy())));
  }

  Simd with(llvm::Value* value) const { return {*builder_, value}; }
  /// The type of as many lanes of `scalar`.
  llvm::Type* like(llvm::Type* scalar) const {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type());
    return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
  }

 private:
  llvm::Type* sibling(bool floats) const {
    if (floats) return like(is_wide() ? builder_->getDoubleTy() : builder_->getFloatTy());
    return like(is_wide() ? builder_->getInt64Ty() : builder_->getInt32Ty());
  }

  llvm::IRBuilderBase* builder_;
  llvm::Value* value_;
};

// Arithmetic on floats, wrapping arithmetic on integers; comparisons are ordered (false for NaN),
// signed.
#define ANABRANCH_OPERATOR(op, float_form, integer_form)                              \
  inline Simd operator op(Simd a, Simd b) {                                           \
    llvm::IRBuilderBase& builder = a.builder();                                       \
    return a.with(a.is_float() ? builder.Create##float_form(a.value(), b.value())     \
                               : builder.Create##integer_form(a.value(), b.value())); \
  }                                                                                   \
  inline Simd operator op(Simd a, Number auto b) { return a op a.constant(b); }       \
  inline Simd operator op(Number auto a, Simd b) { return b.constant(a) op b; }
ANABRANCH_OPERATOR(+, FAdd, Add)
ANABRANCH_OPERATOR(-, FSub, Sub)
ANABRANCH_OPERATOR(*, FMul, Mul)
ANABRANCH_OPERATOR(<, FCmpOLT, ICmpSLT)
ANABRANCH_OPERATOR(>, FCmpOGT, ICmpSGT)
ANABRANCH_OPERATOR(<=, FCmpOLE, ICmpSLE)
ANABRANCH_OPERATOR(>=, FCmpOGE, ICmpSGE)
ANABRANCH_OPERATOR(==, FCmpOEQ, ICmpEQ)
ANABRANCH_OPERATOR(!=, FCmpUNE, ICmpNE)
#undef ANABRANCH_OPERATOR

inline Simd operator/(Simd a, Simd b) {
  return a.with(a.builder().CreateFDiv(a.value(), b.value()));
}
inline Simd operator/(Number auto a, Simd b) { return b.constant(a) / b; }

inline Simd operator-(Simd a) {
  return a.with(a.is_float() ? a.builder().CreateFNeg(a.value())
                             : a.builder().CreateNeg(a.value()));
}

// Integers and masks. Shifts right bring in copies of the sign (>>) or zeros (shift_right_logical).
inline Simd operator&(Simd a, Simd b) {
  return a.with(a.builder().CreateAnd(a.value(), b.value()));
}
inline Simd operator|(Simd a, Simd b) { return a.with(a.builder().CreateOr(a.value(), b.value())); }
inline Simd operator^(Simd a, Simd b) {
  return a.with(a.builder().CreateXor(a.value(), b.value()));
}
inline Simd operator&(Simd a, Number auto b) { return a & a.constant(b); }
inline Simd operator|(Simd a, Number auto b) { return a | a.constant(b); }
inline Simd operator^(Simd a, Number auto b) { return a ^ a.constant(b); }
inline Simd operator!(Simd a) { return a.with(a.builder().CreateNot(a.value())); }
inline Simd operator<<(Simd a, int b) { return a.with(a.builder().CreateShl(a.value(), b)); }
inline Simd operator>>(Simd a, int b) { return a.with(a.builder().CreateAShr(a.value(), b)); }
inline Simd shift_right_logical(Simd a, int b) {
  return a.with(a.builder().CreateLShr(a.value(), b));
}

/// a * b + c, rounded once. Any of the three may be a number.
inline Simd fma(Simd a, Simd b, Simd c) {
  return a.with(a.builder().CreateIntrinsic(llvm::Intrinsic::fma, {a.type()},
                                            {a.value(), b.value(), c.value()}));
}
inline Simd fma(Simd a, Simd b, Number auto c) { return fma(a, b, a.constant(c)); }
inline Simd fma(Simd a, Number auto b, Simd c) { return fma(a, a.constant(b), c); }
inline Simd fma(Simd a, Number auto b, Number auto c) {
  return fma(a, a.constant(b), a.constant(c));
}

/// `a` where the mask holds, else `b`. One of the two may be a number.
inline Simd select(Simd mask, Simd a, Simd b) {
  return a.with(a.builder().CreateSelect(mask.value(), a.value(), b.value()));
}
inline Simd select(Simd mask, Number auto a, Simd b) { return select(mask, b.constant(a), b); }
inline Simd select(Simd mask, Simd a, Number auto b) { return select(mask, a, a.constant(b)); }

/// Whether a >= b or a > b, or either is NaN.
inline Simd at_least_or_nan(Simd a, Number auto b) {
  return a.with(a.builder().CreateFCmpUGE(a.value(), a.constant(b).value()));
}
inline Simd above_or_nan(Simd a, Number auto b) {
  return a.with(a.builder().CreateFCmpUGT(a.value(), a.constant(b).value()));
}
inline Simd is_nan(Simd a) { return a.with(a.builder().CreateFCmpUNO(a.value(), a.value())); }

inline Simd abs(Simd a) {
  return a.with(a.builder().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a.value()));
}
/// The instruction: the other work of a function runs beside it.
inline Simd sqrt(Simd a) {
  return a.with(a.builder().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a.value()));
}
/// a 2^k for whole k, rounded once. Only where a.has_avx512().
inline Simd scale(Simd a, Simd k) {
  llvm::IRBuilderBase& b = a.builder();
  constexpr int current_rounding = 4;
  return a.with(b.CreateIntrinsic(
      a.pick(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
             llvm::Intrinsic::x86_avx512_mask_scalef_pd_512),
      {}, {a.value(), k.value(), a.value(), a.all_lanes(), b.getInt32(current_rounding)}));
}
/// The magnitude of `a` with the sign of `b`.
inline Simd copysign(Simd a, Simd b) {
  return a.with(a.builder().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a.value(), b.value()));
}
inline Simd round(Simd a) {
  return a.with(a.builder().CreateUnaryIntrinsic(llvm::Intrinsic::rint, a.value()));
}
/// The sign bit alone, as integers.
inline Simd sign_bit(Simd a) {
  return a.bits() & a.bits().constant(std::int64_t{1} << a.pick(31, 63));
}

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's scheme.
inline Simd polynomial(Simd x, std::span<const double> c) {
  Simd sum = x.constant(c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, c[i]);
  return sum;
}

/// Coefficients of one polynomial, made for each format.
struct Coefficients {
  std::span<const double> f32, f64;
};
inline Simd polynomial(Simd x, const Coefficients& c) {
  return polynomial(x, x.pick(c.f32, c.f64));
}

}  // namespace anabranch::cpu::math
