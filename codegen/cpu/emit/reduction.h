// How partial results of a reduction combine, lane by lane and across lanes.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// What a reduction has come to: one value, or (value, position) for argmax and argmin, or n of a
/// carry: scalars or vectors.
using Partial = llvm::SmallVector<llvm::Value*, 2>;

/// Whether a vector loop carries this reduction in parts: an exact maximum or minimum of floats
/// takes six instructions, its parts two or three, most of them off the path that an iteration
/// waits for.
bool is_carried_in_parts(Combine how, Dtype dtype);

/// The parts of f32s or f64s: the numbers, whether no NaN was among them, and the bits, whose signs
/// tell 0 from -0. They combine like any other partial result; `combine_lanes` puts them together.
Partial in_parts(llvm::IRBuilderBase& builder, llvm::Value* values);

/// Folds `next[i]` into `so_far[i]`, carried in parts. One test looks for NaN in two vectors, one
/// instruction takes two vectors' signs: which of the partial results holds them does not matter.
void fold_in_parts(llvm::IRBuilderBase& builder, Combine how, llvm::MutableArrayRef<Partial> so_far,
                   llvm::ArrayRef<llvm::Value*> next);

/// Both folded into one. `dtype` is that of the first component. Any combination but `carry`.
using CombinePair = Partial(llvm::IRBuilderBase& builder, Combine how, Dtype dtype,
                            const Partial& so_far, const Partial& next);
CombinePair combine;

/// The same where all of `next` is of later iterations than `so_far`: its positions are greater.
CombinePair combine_later;

/// All lanes of a vector folded into one scalar, upper half onto lower half: an order that the
/// width alone decides. The width must be a power of two.
Partial combine_lanes(llvm::IRBuilderBase& builder, Combine how, Dtype dtype, Partial vectors);

}  // namespace anabranch::cpu
