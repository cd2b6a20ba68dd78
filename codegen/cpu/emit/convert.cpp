#include "codegen/cpu/emit/convert.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;

constexpr bool is_narrow(Dtype dtype) { return computes_in(dtype) != dtype; }

constexpr bool has_conversions(Dtype dtype) { return dtype == f16 || dtype == bf16; }

static_assert(
    [] {
      for (int i = 0; i < dtype_count; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        if (is_narrow(dtype) != has_conversions(dtype)) return false;
      }
      return true;
    }(),
    "a dtype that is computed in another is converted by widen and narrow below");

// Rounds by integer arithmetic: the hardware's own conversion flushes subnormals.
Value* round_to_bf16(llvm::IRBuilderBase& b, Value* value) {
  llvm::Type* word = shaped_like(b.getInt32Ty(), value->getType());
  Value* bits = b.CreateBitCast(value, word);
  Value* upper = b.CreateLShr(bits, 16);
  Value* odd = b.CreateAnd(upper, integer(word, 1));
  Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, odd), integer(word, 0x7fff)), 16);
  Value* quiet = b.CreateOr(upper, integer(word, 0x40));
  Value* either = b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded);
  return b.CreateTrunc(either, shaped_like(b.getInt16Ty(), value->getType()));
}

// The float that, rounded again to few bits, gives what rounding the double once would
// (round_to_odd in ir/scalar.h).
Value* round_to_odd(llvm::IRBuilderBase& b, Value* value) {
  llvm::Type* single = shaped_like(b.getFloatTy(), value->getType());
  llvm::Type* word = shaped_like(b.getInt32Ty(), value->getType());
  Value* nearest = b.CreateFPTrunc(value, single);
  Value* back = b.CreateFPExt(nearest, value->getType());
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  Value* back_magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  Value* went_up = b.CreateFCmpOGT(back_magnitude, magnitude);
  Value* bits = b.CreateBitCast(nearest, word);
  Value* odd = b.CreateOr(b.CreateSub(bits, b.CreateZExt(went_up, word)), integer(word, 1));
  Value* infinity = ConstantFP::getInfinity(value->getType());
  Value* inexact =
      b.CreateAnd(b.CreateFCmpONE(back, value), b.CreateFCmpOLT(back_magnitude, infinity));
  return b.CreateBitCast(b.CreateSelect(inexact, odd, bits), single);
}

// A 64-bit integer as a double rounded to odd: its 53 highest bits, the last one sticky.
Value* wide_integer_to_odd_double(llvm::IRBuilderBase& b, bool is_signed, Value* value) {
  llvm::Type* type = value->getType();
  llvm::Type* real = shaped_like(b.getDoubleTy(), type);
  auto to_double = [&](Value* x) {
    return is_signed ? b.CreateSIToFP(x, real) : b.CreateUIToFP(x, real);
  };
  constexpr int dropped = 11;
  Value* low = b.CreateAnd(value, integer(type, (1u << dropped) - 1));
  Value* sticky = b.CreateZExt(b.CreateICmpNE(low, integer(type, 0)), type);
  Value* high = is_signed ? b.CreateAShr(value, dropped) : b.CreateLShr(value, dropped);
  Value* scale = ConstantFP::get(real, static_cast<double>(1u << dropped));
  Value* scaled = b.CreateFMul(to_double(b.CreateOr(high, sticky)), scale);
  // Up to 52 bits and a sign are exact as they are.
  Value* offset = is_signed ? b.CreateAdd(value, integer(type, 1ull << 52)) : value;
  Value* is_small = b.CreateICmpULT(offset, integer(type, 1ull << 53));
  return b.CreateSelect(is_small, to_double(value), scaled);
}

Value* integer_to_float(llvm::IRBuilderBase& b, Dtype from, Dtype to, Value* value) {
  const bool is_signed = is_signed_integer(from);
  auto cast = [&](llvm::Type* scalar) {
    llvm::Type* type = shaped_like(scalar, value->getType());
    return is_signed ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  };
  if (!is_narrow(to)) return cast(register_type(b.getContext(), to));
  if (byte_size(from) < 4) return narrow(b, to, cast(b.getFloatTy()));
  Value* exact = byte_size(from) == 4 ? cast(b.getDoubleTy())
                                      : wide_integer_to_odd_double(b, is_signed, value);
  return narrow(b, to, round_to_odd(b, exact));
}

// Saturating, NaN to 0. The intrinsic for it has no vector form on x86; what the plain conversion
// gives out of range is never chosen.
Value* float_to_integer(llvm::IRBuilderBase& b, Dtype to, Value* value) {
  llvm::Type* real = value->getType();
  llvm::Type* type = shaped_like(register_type(b.getContext(), to), real);
  const unsigned bits = type->getScalarSizeInBits();
  const bool is_signed = is_signed_integer(to);
  auto saturate = [&](Value* beyond, const llvm::APInt& limit, Value* otherwise) {
    return b.CreateSelect(beyond, ConstantInt::get(type, limit), otherwise);
  };
  // Both bounds are exact in either float.
  const double above = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  Value* too_high = b.CreateFCmpOGE(value, ConstantFP::get(real, above));
  if (!is_signed) {
    Value* in_range =
        saturate(too_high, llvm::APInt::getMaxValue(bits), b.CreateFPToUI(value, type));
    return b.CreateSelect(b.CreateFCmpOGT(value, ConstantFP::getZero(real)), in_range,
                          llvm::Constant::getNullValue(type));
  }
  Value* too_low = b.CreateFCmpOLT(value, ConstantFP::get(real, -above));
  Value* converted =
      saturate(too_high, llvm::APInt::getSignedMaxValue(bits), b.CreateFPToSI(value, type));
  converted = saturate(too_low, llvm::APInt::getSignedMinValue(bits), converted);
  return saturate(b.CreateFCmpUNO(value, value), llvm::APInt(bits, 0), converted);
}

Value* differs_from_zero(llvm::IRBuilderBase& b, Value* value) {
  Value* zero = llvm::Constant::getNullValue(value->getType());
  if (value->getType()->isFPOrFPVectorTy()) return b.CreateFCmpUNE(value, zero);
  return b.CreateICmpNE(value, zero);
}

}  // namespace

Value* widen(llvm::IRBuilderBase& b, Dtype dtype, Value* value) {
  llvm::Type* single = shaped_like(b.getFloatTy(), value->getType());
  if (dtype == f16) {
    Value* half = b.CreateBitCast(value, shaped_like(b.getHalfTy(), value->getType()));
    return b.CreateFPExt(half, single);
  }
  if (dtype == bf16) {
    Value* word = b.CreateZExt(value, shaped_like(b.getInt32Ty(), value->getType()));
    return b.CreateBitCast(b.CreateShl(word, 16), single);
  }
  return value;
}

Value* narrow(llvm::IRBuilderBase& b, Dtype dtype, Value* value) {
  if (dtype == f16) {
    Value* half = b.CreateFPTrunc(value, shaped_like(b.getHalfTy(), value->getType()));
    return b.CreateBitCast(half, shaped_like(b.getInt16Ty(), value->getType()));
  }
  if (dtype == bf16) return round_to_bf16(b, value);
  return value;
}

Value* emit_convert(llvm::IRBuilderBase& b, Dtype from, Dtype to, Value* value) {
  if (from == to) return value;
  if (is_narrow(from)) {
    value = widen(b, from, value);
    from = f32;
    if (from == to) return value;
  }
  if (to == bool_) return differs_from_zero(b, value);
  llvm::Type* type = shaped_like(register_type(b.getContext(), to), value->getType());
  if (!is_float(from)) {
    if (is_float(to)) return integer_to_float(b, from, to, value);
    return is_signed_integer(from) ? b.CreateSExtOrTrunc(value, type)
                                   : b.CreateZExtOrTrunc(value, type);
  }
  if (!is_float(to)) return float_to_integer(b, to, value);
  if (is_narrow(to)) return narrow(b, to, from == f64 ? round_to_odd(b, value) : value);
  return from == f64 ? b.CreateFPTrunc(value, type) : b.CreateFPExt(value, type);
}

}  // namespace anabranch::cpu
