// Complex numbers in LLVM: in a register the integer of their bits, the real part in the lower
// half. Where vectors of them are taken apart or put together they are vectors of parts, in turns,
// which the machine has shuffles for.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "anabranch/dtype.h"

namespace anabranch::cpu {

/// Part 0, the real one, or part 1 of a complex number or of each of a vector.
llvm::Value* emit_part(llvm::IRBuilderBase& builder, Dtype complex, llvm::Value* value,
                       unsigned part);
/// The complex number of two parts, or the vector of such.
llvm::Value* emit_complex(llvm::IRBuilderBase& builder, Dtype complex, llvm::Value* re,
                          llvm::Value* im);
/// `yes` where `condition` holds, else `no`.
llvm::Value* emit_complex_select(llvm::IRBuilderBase& builder, Dtype complex,
                                 llvm::Value* condition, llvm::Value* yes, llvm::Value* no);

/// A vector of complex numbers as one of twice as many parts.
llvm::Value* parts_of_lanes(llvm::IRBuilderBase& builder, Dtype complex, llvm::Value* value);
/// Every lane of a mask twice: of complex numbers, as one of their parts.
llvm::Value* twice_each(llvm::IRBuilderBase& builder, llvm::Value* mask);
/// `width` consecutive complex numbers, 0 where the mask (null: all hold) does not hold.
llvm::Value* load_complex_lanes(llvm::IRBuilderBase& builder, Dtype complex, llvm::Value* pointer,
                                llvm::Value* mask, int width);

}  // namespace anabranch::cpu
