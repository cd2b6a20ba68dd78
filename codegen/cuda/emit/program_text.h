// The CUDA C++ of a whole program, for dumps and tests: made without a GPU and without NVRTC.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace anabranch::cuda {

/// What is compiled for the steps on its GPUs, or, where it is on CPUs alone, would be if all of it
/// ran on a GPU. The kernels are as `lower` made them.
std::string program_text(const Program& program);

}  // namespace anabranch::cuda
