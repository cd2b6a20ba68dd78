// Square matrices whose rows are vectors, transposed in registers.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace anabranch::cpu {

/// The columns of the matrix with these rows: as many as a row has elements, a power of two, of 4
/// or 8 bytes each. Two phases: the elements of 128-bit lanes by interleaving pairs of rows, then
/// the lanes by taking every second one of a pair, which are the shuffles that CPUs are fastest at.
llvm::SmallVector<llvm::Value*, 16> emit_transpose(llvm::IRBuilderBase& builder,
                                                   llvm::ArrayRef<llvm::Value*> rows);

}  // namespace anabranch::cpu
