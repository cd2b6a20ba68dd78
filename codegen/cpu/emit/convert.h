// Conversions between dtypes, with the one defined result of the op `convert`.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "anabranch/dtype.h"

namespace anabranch::cpu {

/// f16 or bf16 bits as the float they stand for; anything else unchanged.
llvm::Value* widen(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* value);

/// A float rounded to f16 or bf16 bits (nearest, ties to even; subnormals and NaN kept); for any
/// other dtype unchanged.
llvm::Value* narrow(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* value);

/// `value` of dtype `from` as a `to`: convert_scalar of ir/scalar.h.
llvm::Value* emit_convert(llvm::IRBuilderBase& builder, Dtype from, Dtype to, llvm::Value* value);

}  // namespace anabranch::cpu
