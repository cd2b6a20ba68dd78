// How long a step takes on a GPU, and how much of it.
#pragma once

#include <span>

#include "ir/kernel/kernel.h"
#include "ir/program/program.h"

namespace anabranch::cuda {

/// Sets the time and the parallelism of a step that is neither a loop nor a branch, and that runs
/// on a GPU or copies to or from one. What the host does for a GPU keeps none of its threads busy.
void predict(Step& step, const Program& program, std::span<const Kernel> kernels);

}  // namespace anabranch::cuda
