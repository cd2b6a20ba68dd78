#include "codegen/cpu/emit/integer.h"

#include <llvm/IR/Intrinsics.h>

#include <array>

#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {
namespace {

using llvm::ConstantInt;
using llvm::Value;

// The quotient toward zero for a divisor that neither is zero nor overflows.
Value* plain_quotient(llvm::IRBuilderBase& b, Dtype dtype, Value* x, Value* y) {
  const bool is_signed = is_signed_integer(dtype);
  llvm::Type* type = x->getType();
  const bool has_vector_form = llvm::isa<llvm::Constant>(y) || !type->isVectorTy();
  if (has_vector_form || byte_size(dtype) == 8) {
    return is_signed ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
  }
  // A quotient of 32-bit integers is at least 2^-32 away from the next integer if it is none
  // itself, relatively much more than a double's rounding; and so for 16 bits and float.
  llvm::Type* real = byte_size(dtype) == 4 ? b.getDoubleTy() : b.getFloatTy();
  real = shaped_like(real, type);
  if (is_signed) {
    return b.CreateFPToSI(b.CreateFDiv(b.CreateSIToFP(x, real), b.CreateSIToFP(y, real)), type);
  }
  return b.CreateFPToUI(b.CreateFDiv(b.CreateUIToFP(x, real), b.CreateUIToFP(y, real)), type);
}

Value* any_lane(llvm::IRBuilderBase& b, Value* condition) {
  return condition->getType()->isVectorTy() ? b.CreateOrReduce(condition) : condition;
}

// The loop of x^y for y >= 0: while any y has bits left, multiply where its lowest one is set.
Value* power_by_squaring(llvm::IRBuilderBase& b, Value* x, Value* y) {
  llvm::Type* type = x->getType();
  llvm::Value* zero = integer(type, 0);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* loop = llvm::BasicBlock::Create(b.getContext(), "power", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "power.end", function);
  b.CreateBr(loop);

  b.SetInsertPoint(loop);
  llvm::PHINode* result = b.CreatePHI(type, 2);
  llvm::PHINode* square = b.CreatePHI(type, 2);
  llvm::PHINode* left = b.CreatePHI(type, 2);
  Value* is_set = b.CreateICmpNE(b.CreateAnd(left, integer(type, 1)), zero);
  Value* next_result = b.CreateSelect(is_set, b.CreateMul(result, square), result);
  Value* next_square = b.CreateMul(square, square);
  Value* next_left = b.CreateLShr(left, 1);
  result->addIncoming(integer(type, 1), before);
  square->addIncoming(x, before);
  left->addIncoming(y, before);
  result->addIncoming(next_result, loop);
  square->addIncoming(next_square, loop);
  left->addIncoming(next_left, loop);
  b.CreateCondBr(any_lane(b, b.CreateICmpNE(next_left, zero)), loop, after);

  b.SetInsertPoint(after);
  return next_result;
}

}  // namespace

Value* emit_division(llvm::IRBuilderBase& b, Op op, Dtype dtype, Value* x, Value* y) {
  if (dtype == bool_)
    return op == Op::divide ? b.CreateOr(x, b.CreateNot(y)) : b.CreateAnd(x, b.CreateNot(y));
  llvm::Type* type = x->getType();
  Value* one = integer(type, 1);
  Value* by_zero = b.CreateICmpEQ(y, integer(type, 0));
  Value* divisor = b.CreateSelect(by_zero, one, y);
  Value* by_minus_one = nullptr;
  if (is_signed_integer(dtype)) {
    // The least integer over -1 overflows; x / -1 is -x, which wraps.
    by_minus_one = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type));
    divisor = b.CreateSelect(by_minus_one, one, divisor);
  }
  Value* quotient = plain_quotient(b, dtype, x, divisor);
  if (op == Op::remainder) {
    // Divisors 0 and -1 were made 1, which leaves x - x = 0; only 0 wants x.
    Value* rest = b.CreateSub(x, b.CreateMul(quotient, divisor));
    return b.CreateSelect(by_zero, x, rest);
  }
  if (by_minus_one) quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(type), quotient);
}

Value* emit_integer_power(llvm::IRBuilderBase& b, Dtype dtype, Value* x, Value* y) {
  if (dtype == bool_) return b.CreateOr(x, b.CreateNot(y));
  llvm::Type* type = x->getType();
  if (!is_signed_integer(dtype)) return power_by_squaring(b, x, y);
  Value* zero = integer(type, 0);
  Value* one = integer(type, 1);
  Value* minus_one = llvm::Constant::getAllOnesValue(type);
  Value* is_negative = b.CreateICmpSLT(y, zero);
  Value* power = power_by_squaring(b, x, b.CreateSelect(is_negative, zero, y));
  Value* is_odd = b.CreateICmpNE(b.CreateAnd(y, one), zero);
  Value* of_minus_one = b.CreateSelect(is_odd, minus_one, one);
  Value* inverse = b.CreateSelect(b.CreateICmpEQ(x, minus_one), of_minus_one, zero);
  inverse = b.CreateSelect(b.CreateICmpEQ(x, one), one, inverse);
  return b.CreateSelect(is_negative, inverse, power);
}

Value* emit_shift(llvm::IRBuilderBase& b, Op op, Dtype dtype, Value* x, Value* y) {
  if (dtype == bool_) return op == Op::shift_right_arithmetic ? x : b.CreateAnd(x, b.CreateNot(y));
  llvm::Type* type = x->getType();
  const std::uint64_t width = 8 * byte_size(dtype);
  if (op == Op::shift_right_arithmetic) {
    Value* by = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, y, integer(type, width - 1));
    return b.CreateAShr(x, by);
  }
  Value* shifted = op == Op::shift_left ? b.CreateShl(x, y) : b.CreateLShr(x, y);
  return b.CreateSelect(b.CreateICmpULT(y, integer(type, width)), shifted, integer(type, 0));
}

Value* emit_random_bits(llvm::IRBuilderBase& b, Value* key, Value* counter) {
  // Words live zero-extended in 64-bit lanes: a 32 by 32 bit product needs them there anyway.
  llvm::Type* type = counter->getType();
  Value* mask = integer(type, 0xffffffff);
  auto low = [&](Value* x) { return b.CreateAnd(x, mask); };
  auto high = [&](Value* x) { return b.CreateLShr(x, 32); };

  Value* block = b.CreateLShr(counter, 2);
  std::array<Value*, 4> word = {low(block), high(block), integer(type, 0), integer(type, 0)};
  Value* key_low = low(key);
  Value* key_high = high(key);
  for (int round = 0; round < 10; ++round) {
    Value* first = b.CreateMul(word[0], integer(type, 0xD2511F53));
    Value* second = b.CreateMul(word[2], integer(type, 0xCD9E8D57));
    word = {b.CreateXor(b.CreateXor(high(second), word[1]), key_low), low(second),
            b.CreateXor(b.CreateXor(high(first), word[3]), key_high), low(first)};
    key_low = low(b.CreateAdd(key_low, integer(type, 0x9E3779B9)));
    key_high = low(b.CreateAdd(key_high, integer(type, 0xBB67AE85)));
  }

  auto bit = [&](unsigned position) {
    return b.CreateTrunc(b.CreateLShr(counter, position), shaped_like(b.getInt1Ty(), type));
  };
  Value* even_pair = b.CreateSelect(bit(0), word[1], word[0]);
  Value* odd_pair = b.CreateSelect(bit(0), word[3], word[2]);
  Value* chosen = b.CreateSelect(bit(1), odd_pair, even_pair);
  return b.CreateTrunc(chosen, shaped_like(b.getInt32Ty(), type));
}

}  // namespace anabranch::cpu
