#include "codegen/cpu/emit/quotient.h"

#include <llvm/IR/MDBuilder.h>

#include <cmath>

#include "codegen/cpu/math/value.h"

namespace anabranch::cpu {
namespace {

using math::Simd;

// Powers of two between which dividend and divisor are, so that quotient and remainder are normal:
// the remainder is a multiple of 2^-47 (2^-105) of the dividend.
struct Range {
  int dividend, divisor;
};
constexpr Range f32_range{90, 30}, f64_range{900, 100};

}  // namespace

Divisor prepare_divisor(llvm::IRBuilderBase& b, llvm::Value* scalar, int width) {
  const Simd d(b, scalar);
  const int limit = d.pick(f32_range, f64_range).divisor;
  // Positive alone: remainders of 0 keep the sign of a zero quotient then.
  const Simd is_ordinary = (d >= std::ldexp(1.0, -limit)) & (d <= std::ldexp(1.0, limit));
  const auto lanes = static_cast<unsigned>(width);
  return {b.CreateVectorSplat(lanes, scalar), b.CreateVectorSplat(lanes, (1 / d).value()),
          is_ordinary.value()};
}

llvm::Value* emit_quotient(llvm::IRBuilderBase& b, llvm::Value* dividend, const Divisor& divisor) {
  const Simd x(b, dividend), d(b, divisor.value), r(b, divisor.reciprocal);
  // A remainder of +0 leaves a quotient of -0 alone.
  const Simd estimate = x * r;
  const Simd q = fma(-fma(estimate, d, -x), r, estimate);

  // The bits without the sign, doubled; less 1, a zero comes out above everything.
  const Simd bits = x.bits() + x.bits();
  const int limit = x.pick(f32_range, f64_range).dividend;
  auto doubled_bits = [&](int power) {
    return bits.constant((x.exponent_bias() + power) << (x.mantissa_bits() + 1));
  };
  llvm::Value* is_small = b.CreateICmpULT((bits - 1).value(), (doubled_bits(-limit) - 1).value());
  llvm::Value* is_large = b.CreateICmpUGT(bits.value(), doubled_bits(limit).value());
  llvm::Value* is_extreme = b.CreateOr(b.CreateOrReduce(b.CreateOr(is_small, is_large)),
                                       b.CreateNot(divisor.is_ordinary));

  llvm::BasicBlock* fast = b.GetInsertBlock();
  llvm::Function* function = fast->getParent();
  auto* slow = llvm::BasicBlock::Create(b.getContext(), "divide", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "divided", function);
  b.CreateCondBr(is_extreme, slow, after,
                 llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(slow);
  llvm::Value* quotient = (x / d).value();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* result = b.CreatePHI(dividend->getType(), 2);
  result->addIncoming(q.value(), fast);
  result->addIncoming(quotient, slow);
  return result;
}

}  // namespace anabranch::cpu
