// From a fused graph to a program whose launches do not have their code yet.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/cuda/dot/dot.h"
#include "codegen/options.h"
#include "codegen/plan/dot_epilogue.h"
#include "codegen/schedule/program.h"
#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"
#include "passes/placement.h"

namespace anabranch {

/// A launch that runs its kernel.
struct OneKernel {};

/// A launch that copies its first buffer to its second, of so many bytes.
struct WholeCopy {
  std::int64_t bytes = 0;
};

/// A launch that calls a function of the user.
struct UserCall {
  std::string name;
  CustomFunctionHandle function;
  std::vector<Type> operands, results;
};

struct Launches;

/// A loop or a branch: the launches of its condition and its body, or of its branches. The launch
/// has the operands and the results as buffers.
struct ControlFlow {
  std::vector<Launches> regions;
};

struct Launches {
  Program program;  ///< its launches have everything but `task`, cost and time
  std::vector<std::variant<OneKernel, LibraryDot, cuda::Dot, WholeCopy, UserCall, ControlFlow>>
      work;  ///< one each
};

/// The graph holds parameters, constants, reshapes (which share the memory of what they reshape),
/// fusions, transfers, calls, loops and branches alone. Constants are put on each of the `devices`
/// that reads them; the kernels, not tiled, are added to `kernels`. What updates an array comes
/// after whatever else reads it, where it can. Throws Error where a dot is on a GPU without its
/// library.
Launches plan_launches(const PlacedGraph& placed, std::span<const Device> devices,
                       const Options& options, std::vector<Kernel>& kernels);

}  // namespace anabranch
