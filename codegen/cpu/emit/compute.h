// Elementwise ops as LLVM IR, on one scalar or on a vector of them alike.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include "anabranch/dtype.h"
#include "ir/attributes.h"
#include "ir/op.h"

namespace anabranch::cpu {

/// An elementwise op with the dtypes that decide what it means: `operand` is that of the operands
/// (of the last one, for select), `result` that of the result.
struct ElementwiseOp {
  Op op = Op::add;
  Comparison direction = Comparison::eq;
  Dtype operand = Dtype::f32;
  Dtype result = Dtype::f32;
  bool by_call = false;  ///< an approximate op is a call, and not inline
};

/// Appends code for one op of ops.def. Values have register types (types.h). May add blocks: the
/// builder must stand at the end of its block. Throws InternalError for an op that is not
/// elementwise.
llvm::Value* emit_compute(llvm::IRBuilderBase& builder, const ElementwiseOp& op,
                          llvm::ArrayRef<llvm::Value*> operands);

/// The lesser or the greater of two values: NaN if either is NaN, -0 below 0.
llvm::Value* emit_extremum(llvm::IRBuilderBase& builder, bool greater, Dtype dtype, llvm::Value* x,
                           llvm::Value* y);

/// x `direction` y as i1; IEEE 754 for floats.
llvm::Value* emit_compare(llvm::IRBuilderBase& builder, Comparison direction, Dtype dtype,
                          llvm::Value* x, llvm::Value* y);

}  // namespace anabranch::cpu
