// A dot for a GPU as a call of its library and the kernels around that.
//
//   dot lhs, rhs           lhs' = transpose lhs             (where the library needs it)
//   + bias          ->     dot lhs', rhs + bias             (the library)
//   tanh                   tanh                             (where the library has no such
//   epilogue)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codegen/cuda/dot/dot.h"
#include "codegen/options.h"
#include "codegen/plan/dot_epilogue.h"

namespace anabranch::cuda {

struct DotParts {
  std::optional<Node> lhs_layout, rhs_layout;  ///< fusions that transpose an operand before
  Dot dot;
  std::optional<std::size_t> bias;  ///< which of the split's extra inputs it adds
  std::int64_t workspace_bytes = 0;
  bool needs_epilogue = false;  ///< whether the split's epilogue is left to a kernel
};

/// Nothing where the library has no algorithm on that GPU; throws Error where there is no library.
std::optional<DotParts> dot_parts(const DotSplit& split, const Options& options, int gpu);

}  // namespace anabranch::cuda
