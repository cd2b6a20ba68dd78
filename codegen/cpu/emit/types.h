// How dtypes look in LLVM: in memory and in registers.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Value.h>

#include "anabranch/dtype.h"

namespace anabranch::cpu {

/// One element in memory: a bool is a byte, f16 and bf16 are their 16 bits.
llvm::Type* memory_type(llvm::LLVMContext& context, Dtype dtype);

/// One element in a register: as in memory, but a bool is i1.
llvm::Type* register_type(llvm::LLVMContext& context, Dtype dtype);

/// `scalar`, or a vector of it where `shape` is a vector: as many lanes.
inline llvm::Type* shaped_like(llvm::Type* scalar, llvm::Type* shape) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape)) {
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  }
  return scalar;
}

inline llvm::Value* integer(llvm::Type* type, std::uint64_t bits) {
  return llvm::ConstantInt::get(type, bits);
}

inline llvm::Type* vector_of(llvm::Type* scalar, int width) {
  return llvm::FixedVectorType::get(scalar, static_cast<unsigned>(width));
}

}  // namespace anabranch::cpu
