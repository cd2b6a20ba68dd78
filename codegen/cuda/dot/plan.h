// A dot for a GPU as a call of its library and the kernels around that.
//
//   dot lhs, rhs           lhs' = transpose lhs             (where the library needs it)
//   + bias          ->     dot lhs', rhs + bias             (the library)
//   tanh                   tanh                             (where the library has no such
//   epilogue)
#pragma once

#include <optional>

#include "codegen/backend.h"

namespace anabranch::cuda {

/// Nothing where the library does not compute it on the GPU of that index; throws Error where there
/// is no library.
std::optional<DotPlan> plan_dot(const DotSplit& split, int gpu, const Options& options);

}  // namespace anabranch::cuda
