#include "codegen/cpu/emit/compute.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/cpu/emit/convert.h"
#include "codegen/cpu/emit/integer.h"
#include "codegen/cpu/emit/types.h"
#include "codegen/cpu/math/math.h"
#include "ir/error.h"

namespace anabranch::cpu {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool is_half_width(Dtype dtype) { return dtype == f16 || dtype == bf16; }

llvm::CmpInst::Predicate float_predicate(Comparison direction) {
  switch (direction) {
    case Comparison::eq:
      return llvm::CmpInst::FCMP_OEQ;
    case Comparison::ne:
      return llvm::CmpInst::FCMP_UNE;
    case Comparison::lt:
      return llvm::CmpInst::FCMP_OLT;
    case Comparison::le:
      return llvm::CmpInst::FCMP_OLE;
    case Comparison::gt:
      return llvm::CmpInst::FCMP_OGT;
    case Comparison::ge:
      return llvm::CmpInst::FCMP_OGE;
  }
  __builtin_unreachable();
}

llvm::CmpInst::Predicate integer_predicate(Comparison direction, bool is_signed) {
  using P = llvm::CmpInst::Predicate;
  switch (direction) {
    case Comparison::eq:
      return P::ICMP_EQ;
    case Comparison::ne:
      return P::ICMP_NE;
    case Comparison::lt:
      return is_signed ? P::ICMP_SLT : P::ICMP_ULT;
    case Comparison::le:
      return is_signed ? P::ICMP_SLE : P::ICMP_ULE;
    case Comparison::gt:
      return is_signed ? P::ICMP_SGT : P::ICMP_UGT;
    case Comparison::ge:
      return is_signed ? P::ICMP_SGE : P::ICMP_UGE;
  }
  __builtin_unreachable();
}

// The sign bit of f16 and bf16 alike.
Value* half_sign(llvm::Type* type) { return ConstantInt::get(type, 0x8000); }

Value* emit_abs(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  if (is_half_width(dtype)) return b.CreateAnd(x, ConstantInt::get(x->getType(), 0x7fff));
  if (is_float(dtype)) return b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  if (!is_signed_integer(dtype)) return x;
  return b.CreateBinaryIntrinsic(Intrinsic::abs, x, b.getFalse());
}

Value* emit_negate(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  if (is_half_width(dtype)) return b.CreateXor(x, half_sign(x->getType()));
  return is_float(dtype) ? b.CreateFNeg(x) : b.CreateNeg(x);
}

Value* emit_sign(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  if (is_float(dtype)) {
    Value* wide = widen(b, dtype, x);
    llvm::Type* type = wide->getType();
    Value* unit = b.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(type, 1.0), wide);
    Value* is_nonzero = b.CreateFCmpONE(wide, ConstantFP::getZero(type));
    return b.CreateSelect(is_nonzero, narrow(b, dtype, unit), x);
  }
  Value* zero = ConstantInt::get(x->getType(), 0);
  if (!is_signed_integer(dtype)) return b.CreateZExt(b.CreateICmpNE(x, zero), x->getType());
  Value* positive = b.CreateZExt(b.CreateICmpSGT(x, zero), x->getType());
  return b.CreateOr(positive, b.CreateAShr(x, 8 * byte_size(dtype) - 1));
}

Value* emit_count(llvm::IRBuilderBase& b, Op op, Dtype dtype, Value* x) {
  if (dtype == bool_) return op == Op::popcnt ? x : b.CreateNot(x);
  if (op == Op::popcnt) return b.CreateUnaryIntrinsic(Intrinsic::ctpop, x);
  return b.CreateBinaryIntrinsic(Intrinsic::ctlz, x, b.getFalse());
}

// Any op that one float intrinsic computes, f16 and bf16 through f32.
Value* emit_rounded(llvm::IRBuilderBase& b, Intrinsic::ID intrinsic, Dtype dtype, Value* x) {
  return narrow(b, dtype, b.CreateUnaryIntrinsic(intrinsic, widen(b, dtype, x)));
}

Value* emit_is_finite(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  Value* wide = widen(b, dtype, x);
  Value* magnitude = b.CreateUnaryIntrinsic(Intrinsic::fabs, wide);
  return b.CreateFCmpOLT(magnitude, ConstantFP::getInfinity(wide->getType()));
}

Value* emit_bitcast(llvm::IRBuilderBase& b, Dtype to, Value* x) {
  return b.CreateBitCast(x, shaped_like(register_type(b.getContext(), to), x->getType()));
}

Value* emit_arithmetic(llvm::IRBuilderBase& b, Op op, Dtype dtype, Value* x, Value* y) {
  if (!is_float(dtype)) {
    if (dtype == bool_) {
      if (op == Op::add) return b.CreateOr(x, y);
      return op == Op::multiply ? b.CreateAnd(x, y) : b.CreateXor(x, y);
    }
    if (op == Op::add) return b.CreateAdd(x, y);
    return op == Op::multiply ? b.CreateMul(x, y) : b.CreateSub(x, y);
  }
  x = widen(b, dtype, x);
  y = widen(b, dtype, y);
  Value* result = op == Op::add        ? b.CreateFAdd(x, y)
                  : op == Op::subtract ? b.CreateFSub(x, y)
                  : op == Op::multiply ? b.CreateFMul(x, y)
                  : op == Op::divide   ? b.CreateFDiv(x, y)
                                       : b.CreateFRem(x, y);
  return narrow(b, dtype, result);
}

Value* emit_approximate(llvm::IRBuilderBase& b, const ElementwiseOp& what,
                        llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<Value*, 2> wide;
  for (Value* operand : operands) wide.push_back(widen(b, what.operand, operand));
  return narrow(b, what.operand, (what.by_call ? emit_math_call : emit_math)(b, what.op, wide));
}

}  // namespace

Value* emit_compare(llvm::IRBuilderBase& b, Comparison direction, Dtype dtype, Value* x, Value* y) {
  if (is_float(dtype)) {
    return b.CreateFCmp(float_predicate(direction), widen(b, dtype, x), widen(b, dtype, y));
  }
  return b.CreateICmp(integer_predicate(direction, is_signed_integer(dtype)), x, y);
}

Value* emit_extremum(llvm::IRBuilderBase& b, bool greater, Dtype dtype, Value* x, Value* y) {
  if (dtype == bool_) return greater ? b.CreateOr(x, y) : b.CreateAnd(x, y);
  if (is_float(dtype)) {
    Value* wide = b.CreateBinaryIntrinsic(greater ? Intrinsic::maximum : Intrinsic::minimum,
                                          widen(b, dtype, x), widen(b, dtype, y));
    return narrow(b, dtype, wide);
  }
  auto intrinsic = is_signed_integer(dtype) ? (greater ? Intrinsic::smax : Intrinsic::smin)
                                            : (greater ? Intrinsic::umax : Intrinsic::umin);
  return b.CreateBinaryIntrinsic(intrinsic, x, y);
}

Value* emit_compute(llvm::IRBuilderBase& b, const ElementwiseOp& what,
                    llvm::ArrayRef<Value*> operands) {
  const Dtype dtype = what.operand;
  Value* x = operands[0];
  Value* y = operands.size() > 1 ? operands[1] : nullptr;
  Value* z = operands.size() > 2 ? operands[2] : nullptr;
  switch (what.op) {
    case Op::abs:
      return emit_abs(b, dtype, x);
    case Op::negate:
      return emit_negate(b, dtype, x);
    case Op::sign:
      return emit_sign(b, dtype, x);
    case Op::not_:
      return b.CreateNot(x);
    case Op::popcnt:
    case Op::count_leading_zeros:
      return emit_count(b, what.op, dtype, x);
    case Op::floor:
      return emit_rounded(b, Intrinsic::floor, dtype, x);
    case Op::ceil:
      return emit_rounded(b, Intrinsic::ceil, dtype, x);
    case Op::round_nearest_even:
      return emit_rounded(b, Intrinsic::roundeven, dtype, x);
    case Op::round_nearest_afz:
      return emit_rounded(b, Intrinsic::round, dtype, x);
    case Op::sqrt:
      return emit_rounded(b, Intrinsic::sqrt, dtype, x);
    case Op::is_finite:
      return emit_is_finite(b, dtype, x);
    case Op::rsqrt:
    case Op::cbrt:
    case Op::exponential:
    case Op::exponential_minus_one:
    case Op::log:
    case Op::log_plus_one:
    case Op::logistic:
    case Op::sine:
    case Op::cosine:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erf_inv:
    case Op::atan2:
      return emit_approximate(b, what, operands);
    case Op::convert:
      return emit_convert(b, dtype, what.result, x);
    case Op::bitcast_convert:
      return emit_bitcast(b, what.result, x);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
      return emit_arithmetic(b, what.op, dtype, x, y);
    case Op::divide:
    case Op::remainder:
      return is_float(dtype) ? emit_arithmetic(b, what.op, dtype, x, y)
                             : emit_division(b, what.op, dtype, x, y);
    case Op::power:
      return is_float(dtype) ? emit_approximate(b, what, operands)
                             : emit_integer_power(b, dtype, x, y);
    case Op::maximum:
      return emit_extremum(b, true, dtype, x, y);
    case Op::minimum:
      return emit_extremum(b, false, dtype, x, y);
    case Op::and_:
      return b.CreateAnd(x, y);
    case Op::or_:
      return b.CreateOr(x, y);
    case Op::xor_:
      return b.CreateXor(x, y);
    case Op::shift_left:
    case Op::shift_right_arithmetic:
    case Op::shift_right_logical:
      return emit_shift(b, what.op, dtype, x, y);
    case Op::compare:
      return emit_compare(b, what.direction, dtype, x, y);
    case Op::random_bits:
      return emit_random_bits(b, x, y);
    case Op::select:
      return b.CreateSelect(x, y, z);
    case Op::clamp:
      return emit_extremum(b, false, dtype, emit_extremum(b, true, dtype, y, x), z);
    // Not elementwise: lowering turns them into loops, loads and stores.
    case Op::parameter:
    case Op::constant:
    case Op::iota:
    case Op::reshape:
    case Op::broadcast_in_dim:
    case Op::transpose:
    case Op::slice:
    case Op::reverse:
    case Op::pad:
    case Op::concatenate:
    case Op::dynamic_slice:
    case Op::dynamic_update_slice:
    case Op::reduce_sum:
    case Op::reduce_product:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_any:
    case Op::reduce_all:
    case Op::argmax:
    case Op::argmin:
    case Op::reduce:
    case Op::dot:
    case Op::transfer:
    case Op::custom_call:
    case Op::while_:
    case Op::case_:
    case Op::fusion:
      break;
  }
  throw InternalError("emit", std::string(name(what.op)) + " is not an elementwise op");
}

}  // namespace anabranch::cpu
