// Kernels over one array as one step (codegen/kernel/fuse_loops.h).
#pragma once

#include "ir/program/program.h"

namespace anabranch {

/// Joins each step that runs a kernel with the last one before it that walks one of its arrays,
/// where nothing between the two makes what it reads, and where its device says that this is worth
/// while. Looks at each step once.
void fuse_steps(Program& program);

}  // namespace anabranch
