#include "codegen/cpu/emit/reduction.h"

#include <algorithm>
#include <bit>

#include "anabranch/error.h"
#include "codegen/cpu/emit/compute.h"
#include "codegen/cpu/emit/convert.h"
#include "codegen/cpu/emit/types.h"
#include "codegen/kernel/combine_op.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

// The leader of two (value, position) pairs: the better value, any NaN being better than any
// number, and the earlier position among equals.
Partial leader(llvm::IRBuilderBase& b, bool greatest, Dtype dtype, const Partial& so_far,
               const Partial& next) {
  const Comparison better = greatest ? Comparison::gt : Comparison::lt;
  Value* takes_over = emit_compare(b, better, dtype, next[0], so_far[0]);
  Value* ties = emit_compare(b, Comparison::eq, dtype, next[0], so_far[0]);
  if (is_float(dtype)) {
    Value* old_is_nan = b.CreateFCmpUNO(so_far[0], so_far[0]);
    Value* new_is_nan = b.CreateFCmpUNO(next[0], next[0]);
    takes_over = b.CreateOr(takes_over, b.CreateAnd(new_is_nan, b.CreateNot(old_is_nan)));
    ties = b.CreateOr(ties, b.CreateAnd(new_is_nan, old_is_nan));
  }
  takes_over = b.CreateOr(takes_over, b.CreateAnd(ties, b.CreateICmpSLT(next[1], so_far[1])));
  return {b.CreateSelect(takes_over, next[0], so_far[0]),
          b.CreateSelect(takes_over, next[1], so_far[1])};
}

// The same of a pair at a later position, which takes the lead by a better value alone: two tests
// where a NaN leads, as an unordered comparison holds for NaN.
Partial leader_before(llvm::IRBuilderBase& b, bool greatest, Dtype dtype, const Partial& so_far,
                      const Partial& later) {
  Value* takes_over = nullptr;
  if (is_float(dtype)) {
    takes_over =
        greatest ? b.CreateFCmpUGT(later[0], so_far[0]) : b.CreateFCmpULT(later[0], so_far[0]);
    takes_over = b.CreateAnd(takes_over, b.CreateFCmpORD(so_far[0], so_far[0]));
  } else {
    takes_over =
        emit_compare(b, greatest ? Comparison::gt : Comparison::lt, dtype, later[0], so_far[0]);
  }
  return {b.CreateSelect(takes_over, later[0], so_far[0]),
          b.CreateSelect(takes_over, later[1], so_far[1])};
}

// The leader of all lanes: the best value first, which takes one instruction a step, and then the
// least position among the lanes that hold it.
Partial leading_lane(llvm::IRBuilderBase& b, bool greatest, Dtype dtype, const Partial& lanes) {
  const bool is_of_floats = is_float(dtype);
  Value *values = lanes[0], *is_nan = nullptr;
  if (is_of_floats) {
    is_nan = b.CreateFCmpUNO(values, values);
    values = b.CreateSelect(
        is_nan, llvm::ConstantFP::getInfinity(values->getType(), /*Negative=*/greatest), values);
  }
  Value* best = nullptr;
  if (is_of_floats) {
    const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
    llvm::FastMathFlags no_nans;
    no_nans.setNoNaNs();
    no_nans.setNoSignedZeros();
    b.setFastMathFlags(no_nans);
    best = greatest ? b.CreateFPMaxReduce(values) : b.CreateFPMinReduce(values);
  } else {
    const bool is_signed = is_signed_integer(dtype);
    best = greatest ? b.CreateIntMaxReduce(values, is_signed)
                    : b.CreateIntMinReduce(values, is_signed);
  }
  auto* type = llvm::cast<llvm::FixedVectorType>(values->getType());
  Value* leads = emit_compare(b, Comparison::eq, dtype, values,
                              b.CreateVectorSplat(type->getNumElements(), best));
  if (is_of_floats) {
    Value* any_nan = b.CreateOrReduce(is_nan);
    leads = b.CreateSelect(any_nan, is_nan, leads);
    best = b.CreateSelect(any_nan, llvm::ConstantFP::getNaN(best->getType()), best);
  }
  auto* last = llvm::ConstantInt::get(
      lanes[1]->getType(),
      llvm::APInt::getSignedMaxValue(lanes[1]->getType()->getScalarSizeInBits()));
  return {best, b.CreateIntMinReduce(b.CreateSelect(leads, lanes[1], last), /*IsSigned=*/true)};
}

// Extrema in parts: a comparison is false for NaN, so that numbers stay numbers.
Value* better_number(llvm::IRBuilderBase& b, Combine how, Value* so_far, Value* next) {
  Value* takes_over =
      how == Combine::maximum ? b.CreateFCmpOGT(next, so_far) : b.CreateFCmpOLT(next, so_far);
  return b.CreateSelect(takes_over, next, so_far);
}

Value* combine_signs(llvm::IRBuilderBase& b, Combine how, Value* so_far, Value* next) {
  return how == Combine::maximum ? b.CreateAnd(so_far, next) : b.CreateOr(so_far, next);
}

Value* bits_of(llvm::IRBuilderBase& b, Value* values) {
  auto* type = llvm::cast<llvm::VectorType>(values->getType());
  return b.CreateBitCast(values, llvm::VectorType::getInteger(type));
}

Partial combine_parts(llvm::IRBuilderBase& b, Combine how, const Partial& so_far,
                      const Partial& next) {
  return {better_number(b, how, so_far[0], next[0]), b.CreateAnd(so_far[1], next[1]),
          combine_signs(b, how, so_far[2], next[2])};
}

// Where the greatest number is a zero, it is -0 if every sign was set; the least is, if any was.
Value* put_together(llvm::IRBuilderBase& b, Combine how, Value* number, const Partial& parts) {
  Value* is_negative = b.CreateICmpSLT(parts[2], llvm::Constant::getNullValue(parts[2]->getType()));
  Value* sign =
      how == Combine::maximum ? b.CreateAndReduce(is_negative) : b.CreateOrReduce(is_negative);
  auto* zero = llvm::ConstantFP::getZero(number->getType());
  Value* signed_zero =
      b.CreateSelect(sign, llvm::ConstantFP::getNegativeZero(number->getType()), zero);
  Value* result = b.CreateSelect(b.CreateFCmpOEQ(number, zero), signed_zero, number);
  return b.CreateSelect(b.CreateAndReduce(parts[1]), result,
                        llvm::ConstantFP::getNaN(number->getType()));
}

}  // namespace

bool is_carried_in_parts(Combine how, Dtype dtype) {
  return (how == Combine::maximum || how == Combine::minimum) && (dtype == f32 || dtype == f64);
}

Partial in_parts(llvm::IRBuilderBase& b, Value* values) {
  return {values, b.CreateFCmpORD(values, values), bits_of(b, values)};
}

void fold_in_parts(llvm::IRBuilderBase& b, Combine how, llvm::MutableArrayRef<Partial> so_far,
                   llvm::ArrayRef<Value*> next) {
  const std::size_t copies = so_far.size();
  for (std::size_t i = 0; i < copies; ++i) {
    so_far[i][0] = better_number(b, how, so_far[i][0], next[i]);
  }
  for (std::size_t i = 0; i < copies; i += 2) {
    Value* other = next[std::min(i + 1, copies - 1)];
    so_far[i][1] = b.CreateAnd(so_far[i][1], b.CreateFCmpORD(next[i], other));
    so_far[i][2] = combine_signs(b, how, combine_signs(b, how, so_far[i][2], bits_of(b, next[i])),
                                 bits_of(b, other));
  }
}

Partial combine(llvm::IRBuilderBase& b, Combine how, Dtype dtype, const Partial& so_far,
                const Partial& next) {
  if (has_position(how)) {
    return leader(b, how == Combine::argmax, dtype, so_far, next);
  }
  if (so_far.size() == 3) return combine_parts(b, how, so_far, next);
  const auto folds = combine_op(how);
  if (!folds) throw InternalError("emit", "a reduction that no single op folds");
  ElementwiseOp op{.op = *folds, .operand = dtype, .result = dtype};
  return {emit_compute(b, op, {so_far[0], next[0]})};
}

Partial combine_later(llvm::IRBuilderBase& b, Combine how, Dtype dtype, const Partial& so_far,
                      const Partial& later) {
  if (has_position(how)) {
    return leader_before(b, how == Combine::argmax, dtype, so_far, later);
  }
  return combine(b, how, dtype, so_far, later);
}

Partial combine_lanes(llvm::IRBuilderBase& b, Combine how, Dtype dtype, Partial vectors) {
  auto width = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements();
  if (!std::has_single_bit(width)) {
    throw InternalError("emit", "vector width " + std::to_string(width) + " is no power of two");
  }
  if (has_position(how)) return leading_lane(b, how == Combine::argmax, dtype, vectors);
  // Of parts only the numbers take steps; the rest is one test each.
  const Partial parts = vectors;
  const bool in_parts = parts.size() == 3;
  if (in_parts) vectors.resize(1);
  while (width > 1) {
    width /= 2;
    llvm::SmallVector<int, 64> lower, upper;
    for (int lane = 0; lane < static_cast<int>(width); ++lane) {
      lower.push_back(lane);
      upper.push_back(lane + static_cast<int>(width));
    }
    Partial low, high;
    for (Value* vector : vectors) {
      low.push_back(b.CreateShuffleVector(vector, lower));
      high.push_back(b.CreateShuffleVector(vector, upper));
    }
    vectors = in_parts ? Partial{better_number(b, how, low[0], high[0])}
                       : combine(b, how, dtype, low, high);
  }
  for (Value*& vector : vectors) vector = b.CreateExtractElement(vector, std::uint64_t{0});
  if (in_parts) vectors[0] = put_together(b, how, vectors[0], parts);
  return vectors;
}

}  // namespace anabranch::cpu
