#include "codegen/cpu/emit/lane_steps.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

Value* lane_constants(llvm::IRBuilderBase& b, const LaneSteps& steps, unsigned bits,
                      llvm::function_ref<std::int64_t(int)> of) {
  llvm::SmallVector<llvm::Constant*, 64> constants;
  for (int i = 0; i < steps.lanes; ++i) {
    const auto number = static_cast<std::uint64_t>(of(steps.first_lane + i));
    constants.push_back(
        llvm::ConstantInt::get(b.getContext(), llvm::APInt(64, number).trunc(bits)));
  }
  return llvm::ConstantVector::get(constants);
}

}  // namespace

Value* emit_index_division(llvm::IRBuilderBase& b, Op op, Value* x, Value* by) {
  // Not as unsigned ones: LLVM 19 then computes the places of transposed accesses in an order that
  // took half as long again (deriche, bench/peers).
  return op == Op::divide ? b.CreateSDiv(x, by) : b.CreateSRem(x, by);
}

std::int64_t LaneSteps::plain(int lane) const {
  return lane * stride / by * of_quotient + lane * stride % by * of_remainder + lane * of_lane;
}

std::int64_t LaneSteps::carry() const { return of_quotient - by * of_remainder; }

Bounds LaneSteps::bounds() const {
  Bounds bounds{plain(first_lane), plain(first_lane)};
  for (int i = 0; i < lanes; ++i) {
    bounds.low = std::min(bounds.low, plain(first_lane + i));
    bounds.high = std::max(bounds.high, plain(first_lane + i));
  }
  return {bounds.low + std::min<std::int64_t>(carry(), 0),
          bounds.high + std::max<std::int64_t>(carry(), 0)};
}

Value* emit_lane_steps(llvm::IRBuilderBase& b, const LaneSteps& steps, unsigned bits) {
  Value* plain = lane_constants(b, steps, bits, [&](int lane) { return steps.plain(lane); });
  if (steps.carry() == 0) return plain;
  // Where two remainders fit them, the narrow lanes compare, too.
  const unsigned narrow = bits < 32 && 2 * steps.by <= std::int64_t{1} << bits ? bits : 32;
  Value* by = b.getInt64(static_cast<std::uint64_t>(steps.by));
  Value* rest = emit_index_division(b, Op::remainder, steps.first, by);
  rest = b.CreateVectorSplat(static_cast<unsigned>(steps.lanes),
                             b.CreateTrunc(rest, b.getIntNTy(narrow)));
  Value* sum = b.CreateAdd(
      rest, lane_constants(b, steps, narrow, [&](int i) { return i * steps.stride % steps.by; }));
  Value* carries = b.CreateICmpUGE(
      sum, llvm::ConstantInt::get(sum->getType(), static_cast<std::uint64_t>(steps.by)));
  Value* carry = lane_constants(b, steps, bits, [&](int) { return steps.carry(); });
  Value* nothing = llvm::Constant::getNullValue(carry->getType());
  return b.CreateAdd(plain, b.CreateSelect(carries, carry, nothing));
}

}  // namespace anabranch::cpu
