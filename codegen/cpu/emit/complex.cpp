#include "codegen/cpu/emit/complex.h"

#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

unsigned lane_count(Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 1;
}

llvm::Type* vector_of_parts(llvm::IRBuilderBase& b, Dtype complex, unsigned numbers) {
  llvm::Type* part = register_type(b.getContext(), part_dtype(complex));
  return llvm::FixedVectorType::get(part, 2 * numbers);
}

}  // namespace

Value* parts_of_lanes(llvm::IRBuilderBase& b, Dtype complex, Value* value) {
  return b.CreateBitCast(value, vector_of_parts(b, complex, lane_count(value)));
}

Value* twice_each(llvm::IRBuilderBase& b, Value* mask) {
  llvm::SmallVector<int, 128> from;
  for (int lane = 0; lane < static_cast<int>(lane_count(mask)); ++lane) from.append({lane, lane});
  return b.CreateShuffleVector(mask, from);
}

Value* emit_part(llvm::IRBuilderBase& b, Dtype complex, Value* value, unsigned part) {
  Value* parts = parts_of_lanes(b, complex, value);
  if (!value->getType()->isVectorTy()) return b.CreateExtractElement(parts, part);
  llvm::SmallVector<int, 64> from;
  for (unsigned lane = 0; lane < lane_count(value); ++lane) {
    from.push_back(static_cast<int>(2 * lane + part));
  }
  return b.CreateShuffleVector(parts, from);
}

Value* emit_complex(llvm::IRBuilderBase& b, Dtype complex, Value* re, Value* im) {
  llvm::Type* number = shaped_like(register_type(b.getContext(), complex), re->getType());
  if (!re->getType()->isVectorTy()) {
    Value* parts = llvm::PoisonValue::get(vector_of_parts(b, complex, 1));
    parts = b.CreateInsertElement(parts, re, std::uint64_t{0});
    return b.CreateBitCast(b.CreateInsertElement(parts, im, std::uint64_t{1}), number);
  }
  llvm::SmallVector<int, 128> from;
  const auto count = static_cast<int>(lane_count(re));
  for (int lane = 0; lane < count; ++lane) from.append({lane, count + lane});
  return b.CreateBitCast(b.CreateShuffleVector(re, im, from), number);
}

Value* emit_complex_select(llvm::IRBuilderBase& b, Dtype complex, Value* condition, Value* yes,
                           Value* no) {
  if (!condition->getType()->isVectorTy()) return b.CreateSelect(condition, yes, no);
  Value* parts = b.CreateSelect(twice_each(b, condition), parts_of_lanes(b, complex, yes),
                                parts_of_lanes(b, complex, no));
  return b.CreateBitCast(parts, yes->getType());
}

Value* load_complex_lanes(llvm::IRBuilderBase& b, Dtype complex, Value* pointer, Value* mask,
                          int width) {
  llvm::Type* parts = vector_of_parts(b, complex, static_cast<unsigned>(width));
  const llvm::Align alignment(byte_size(part_dtype(complex)));
  Value* loaded = mask ? b.CreateMaskedLoad(parts, pointer, alignment, twice_each(b, mask),
                                            llvm::Constant::getNullValue(parts))
                       : static_cast<Value*>(b.CreateAlignedLoad(parts, pointer, alignment));
  return b.CreateBitCast(loaded, vector_of(register_type(b.getContext(), complex), width));
}

}  // namespace anabranch::cpu
