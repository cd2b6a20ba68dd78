#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {

llvm::Type* memory_type(llvm::LLVMContext& context, Dtype dtype) {
  switch (dtype) {
    case f32:
      return llvm::Type::getFloatTy(context);
    case f64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::IntegerType::get(context, static_cast<unsigned>(byte_size(dtype)) * 8);
  }
}

llvm::Type* register_type(llvm::LLVMContext& context, Dtype dtype) {
  return dtype == bool_ ? llvm::Type::getInt1Ty(context) : memory_type(context, dtype);
}

}  // namespace anabranch::cpu
