// The approximate ops of ops.def as inline LLVM IR: polynomials that vectorise, never calls to
// libm.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include "ir/op.h"

namespace anabranch::cpu {

/// Inline code for `op` (any op flagged `approximate` in ops.def) on operands of one type: float,
/// double, or a fixed vector of them. Within 2 ULP over the whole domain, subnormals included;
/// special values as C99 Annex F has them. Throws InternalError for any other op or type.
///
/// The code may have branches (sine, cosine and tan of huge arguments): the builder must stand at
/// the end of its block, and stands at the end of another one afterwards.
llvm::Value* emit_math(llvm::IRBuilderBase& builder, Op op, llvm::ArrayRef<llvm::Value*> operands);

/// The same as a call of a function of the module, which is made at the first use: for code that
/// uses `op` so often that to compile it each time takes longer than it is worth.
llvm::Value* emit_math_call(llvm::IRBuilderBase& builder, Op op,
                            llvm::ArrayRef<llvm::Value*> operands);

}  // namespace anabranch::cpu
