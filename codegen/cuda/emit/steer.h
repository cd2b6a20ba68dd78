// Kernels of one thread that set the condition of a CUDA graph's conditional node from what lies in
// memory, which a graph's nodes cannot do by themselves.
#pragma once

#include <cstddef>
#include <string>

namespace anabranch::cuda {

/// `__global__ void NAME(condition, pointer)`.
struct SteerText {
  std::string name;
  std::string text;
};

/// From a loop's flag.
SteerText emit_loop_steer();
/// From a branch's number: the last of `branches` where there is none of that number.
SteerText emit_branch_steer(std::size_t branches);

}  // namespace anabranch::cuda
