// Kernels of one thread that set the condition of a CUDA graph's conditional node from what is in
// memory, which a graph's nodes cannot do by themselves.
#pragma once

#include <cstddef>
#include <string>

namespace anabranch::cuda {

/// `__global__ void NAME(condition, pointer)`.
struct ConditionalText {
  std::string name;
  std::string text;
};

/// From a loop's flag.
ConditionalText emit_loop_conditional();
/// From a branch's number: the last of `branches` where there is none of that number.
ConditionalText emit_branch_conditional(std::size_t branches);

}  // namespace anabranch::cuda
