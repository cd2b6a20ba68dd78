#include "codegen/cpu/emit/compute.h"

#include <llvm/IR/Intrinsics.h>

#include "anabranch/error.h"
#include "codegen/cpu/emit/complex.h"
#include "codegen/cpu/emit/convert.h"
#include "codegen/cpu/emit/integer.h"
#include "codegen/cpu/emit/types.h"
#include "codegen/cpu/math/functions.h"
#include "codegen/cpu/math/math.h"
#include "codegen/cpu/math/value.h"
#include "codegen/kernel/legalise_dtypes.h"

namespace anabranch::cpu {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

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

Value* emit_abs(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  if (is_float(dtype)) return b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  if (!is_signed_integer(dtype)) return x;
  return b.CreateBinaryIntrinsic(Intrinsic::abs, x, b.getFalse());
}

Value* emit_negate(llvm::IRBuilderBase& b, Dtype dtype, Value* x) {
  return is_float(dtype) ? b.CreateFNeg(x) : b.CreateNeg(x);
}

Value* emit_count(llvm::IRBuilderBase& b, Op op, Value* x) {
  if (op == Op::popcnt) return b.CreateUnaryIntrinsic(Intrinsic::ctpop, x);
  return b.CreateBinaryIntrinsic(Intrinsic::ctlz, x, b.getFalse());
}

Value* emit_bitcast(llvm::IRBuilderBase& b, Dtype to, Value* x) {
  return b.CreateBitCast(x, shaped_like(register_type(b.getContext(), to), x->getType()));
}

Value* emit_arithmetic(llvm::IRBuilderBase& b, Op op, Dtype dtype, Value* x, Value* y) {
  if (!is_float(dtype)) {
    if (op == Op::add) return b.CreateAdd(x, y);
    return op == Op::multiply ? b.CreateMul(x, y) : b.CreateSub(x, y);
  }
  switch (op) {
    case Op::add:
      return b.CreateFAdd(x, y);
    case Op::subtract:
      return b.CreateFSub(x, y);
    case Op::multiply:
      return b.CreateFMul(x, y);
    case Op::divide:
      return b.CreateFDiv(x, y);
    default:
      return b.CreateFRem(x, y);
  }
}

// By VRANGEPS, whose numbers are ordered as ours are, and which of a NaN and a number takes the
// number: three instructions in place of the six of `llvm.maximum`. Only where x.has_avx512().
Value* extremum_by_range(math::Simd x, bool greater, math::Simd y) {
  llvm::IRBuilderBase& b = x.builder();
  constexpr int sign_of_the_operand = 4, of_the_greater = 1, current_rounding = 4;
  const int select = sign_of_the_operand | (greater ? of_the_greater : 0);
  const math::Simd number = x.with(b.CreateIntrinsic(
      x.pick(Intrinsic::x86_avx512_mask_range_ps_512, Intrinsic::x86_avx512_mask_range_pd_512), {},
      {x.value(), y.value(), b.getInt32(select), x.value(), x.all_lanes(),
       b.getInt32(current_rounding)}));
  const math::Simd has_nan = x.with(b.CreateFCmpUNO(x.value(), y.value()));
  return math::select(has_nan, x + y, number).value();
}

}  // namespace

Value* emit_compare(llvm::IRBuilderBase& b, Comparison direction, Dtype dtype, Value* x, Value* y) {
  if (is_float(dtype)) return b.CreateFCmp(float_predicate(direction), x, y);
  return b.CreateICmp(integer_predicate(direction, is_signed_integer(dtype)), x, y);
}

Value* emit_extremum(llvm::IRBuilderBase& b, bool greater, Dtype dtype, Value* x, Value* y) {
  if (is_float(dtype)) {
    // With a constant, of which more is known, LLVM's own code is as short.
    const bool has_constant = llvm::isa<llvm::Constant>(x) || llvm::isa<llvm::Constant>(y);
    const math::Simd simd(b, x);
    if (simd.has_avx512() && !has_constant) return extremum_by_range(simd, greater, {b, y});
    return b.CreateBinaryIntrinsic(greater ? Intrinsic::maximum : Intrinsic::minimum, x, y);
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
  if (!is_legal(what.op, dtype)) {
    throw InternalError("emit", std::string(name(what.op)) + " of " + std::string(name(dtype)) +
                                    ", which is computed in another dtype");
  }
  switch (what.op) {
    case Op::abs:
      return emit_abs(b, dtype, x);
    case Op::negate:
      return emit_negate(b, dtype, x);
    case Op::not_:
      return b.CreateNot(x);
    case Op::popcnt:
    case Op::count_leading_zeros:
      return emit_count(b, what.op, x);
    case Op::floor:
      return b.CreateUnaryIntrinsic(Intrinsic::floor, x);
    case Op::ceil:
      return b.CreateUnaryIntrinsic(Intrinsic::ceil, x);
    case Op::round_nearest_even:
      return b.CreateUnaryIntrinsic(Intrinsic::roundeven, x);
    case Op::round_nearest_afz:
      return b.CreateUnaryIntrinsic(Intrinsic::round, x);
    case Op::sqrt:
      return math::sqrt_alone({b, x}).value();
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
      return (what.by_call ? emit_math_call : emit_math)(b, what.op, operands);
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
      return is_float(dtype) ? (what.by_call ? emit_math_call : emit_math)(b, what.op, operands)
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
      return is_complex(what.result) ? emit_complex_select(b, what.result, x, y, z)
                                     : b.CreateSelect(x, y, z);
    case Op::real:
      return emit_part(b, dtype, x, 0);
    case Op::imag:
      return emit_part(b, dtype, x, 1);
    case Op::complex:
      return emit_complex(b, what.result, x, y);
      // Written as other ops before (decompose.h), or not elementwise: lowering turns those into
      // loops, loads and stores.
#define ELEMENTWISE_OP(name)
#define OTHER_OP(name) case Op::name:
#include "ir/ops_by_kind.def"
      break;
  }
  throw InternalError("emit", std::string(name(what.op)) + " is no op that code is emitted for");
}

}  // namespace anabranch::cpu
