// Integer arithmetic that hardware leaves undefined or has no vector form of: division, powers,
// shifts past the width, counter-based random bits.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "anabranch/dtype.h"
#include "ir/op.h"

namespace anabranch::cpu {

/// divide or remainder of integers or bools. Never traps.
llvm::Value* emit_division(llvm::IRBuilderBase& builder, Op op, Dtype dtype, llvm::Value* x,
                           llvm::Value* y);

/// x^y by squaring, as a loop over the bits of y. Adds blocks.
llvm::Value* emit_integer_power(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* x,
                                llvm::Value* y);

/// One of the three shifts.
llvm::Value* emit_shift(llvm::IRBuilderBase& builder, Op op, Dtype dtype, llvm::Value* x,
                        llvm::Value* y);

/// Word (counter mod 4) of a Philox 4x32-10 block: Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011.
llvm::Value* emit_random_bits(llvm::IRBuilderBase& builder, llvm::Value* key, llvm::Value* counter);

}  // namespace anabranch::cpu
