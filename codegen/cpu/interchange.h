// The order of a kernel's outer loops, and which of them becomes vector lanes.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// Reorders, merges and splits the outer loops, and marks the one whose iterations are to be lanes;
/// where none is, the innermost of the loops inside them are. Merges alone where the order must
/// stay row-major.
Kernel interchange(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
