// The kernel passes of each kernel's backend.
#pragma once

#include "ir/program/program.h"

namespace anabranch {

/// Runs them on the program's kernels, those of programs inside too.
void run_kernel_passes(Program& program);

}  // namespace anabranch
