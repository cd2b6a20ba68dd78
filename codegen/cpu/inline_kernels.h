// Kernels that are part of the loop or the branch which runs them as one function.
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// Whether a kernel becomes part of the function that runs it, and needs none of its own there: a
/// few instructions without a loop.
bool may_be_inlined(const Kernel& kernel);

}  // namespace anabranch::cpu
