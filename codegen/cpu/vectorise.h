// Which loop's iterations are the lanes of vectors, how wide, and how far it is unrolled.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// The loops that lowering or `interchange` has marked, or else the innermost loops inside the
/// outer ones; none that folds in order.
Kernel vectorise(const Kernel& kernel, KernelContext& context);

/// Lanes of a vector of `bytes`-wide elements, a power of two.
int lanes_of(int bytes, const Target& target);

}  // namespace anabranch::cpu
