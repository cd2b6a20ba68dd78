// The CUDA C++ of a whole program, for dumps and tests: made without a GPU and without NVRTC.
#pragma once

#include <span>
#include <string>

#include "codegen/plan/launches.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

/// The kernels, loops and branches that a program with these launches would run on a GPU; what
/// libraries and functions of the user's compute is left out.
std::string program_text(Launches launches, std::span<const Kernel> kernels);

}  // namespace anabranch::cuda
