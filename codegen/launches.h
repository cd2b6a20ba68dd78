// From a fused graph to a program whose launches do not have their code yet.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "codegen/schedule.h"
#include "ir/graph.h"
#include "ir/kernel.h"

namespace anabranch {

/// A dot for the library, and the kernel over its result, if any.
struct LibraryDot {
  Type lhs, rhs, result;
  DotAttributes attributes;
  std::optional<std::size_t> epilogue;  ///< index of its kernel
  std::size_t epilogue_inputs = 0, epilogue_outputs = 0;
  bool in_place = false;
};

/// A launch that runs one kernel, by its index.
struct OneKernel {
  std::size_t kernel = 0;
};

struct Launches {
  Program program;  ///< its launches have everything but `task`, cost and time
  std::vector<std::variant<OneKernel, LibraryDot>> work;  ///< one per launch
  std::vector<Kernel> kernels;                            ///< not tiled
};

/// `graph` holds parameters, constants, reshapes (which share the memory of what they reshape) and
/// fusions alone. Constants are put on `device`.
Launches plan_launches(const Graph& graph, const Device& device);

}  // namespace anabranch
