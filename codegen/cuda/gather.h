// All that is compiled for the steps of a program that run on GPUs. Needs no GPU and no NVRTC.
#pragma once

#include <span>
#include <vector>

#include "codegen/cuda/compile_kernels.h"
#include "codegen/cuda/emit/conditional.h"
#include "ir/literal.h"
#include "ir/program/program.h"

namespace anabranch::cuda {

/// Where it points, it points into the program.
struct Gathered {
  /// A step's kernel, or the one that all of a loop or a branch is.
  struct Part {
    const Step* step;
    KernelText kernel;                      ///< its `fixed` are still to come
    std::vector<const Literal*> constants;  ///< what they are to hold, in their order
  };
  /// What sets the conditions of loops and branches inside a CUDA graph.
  struct Conditional {
    ConditionalText text;
    std::vector<const Step*> steps;
  };

  std::vector<Part> parts;
  std::vector<Conditional>
      conditionals;  ///< one for all loops, one for all branches out of as many
};

/// For what runs on these devices of `program`, in the order of its steps, those inside loops and
/// branches too. What libraries and functions of the user's compute is left out. The kernels are as
/// `lower` made them.
Gathered gather(const Program& program, std::span<const DeviceIndex> devices);

}  // namespace anabranch::cuda
