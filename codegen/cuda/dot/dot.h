// Dot through cuBLASLt, with the epilogues that it has.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/cuda/dot/library_epilogue.h"
#include "ir/attributes.h"
#include "ir/type.h"
#include "runtime/executor/executable.h"

namespace anabranch::cuda {

/// A dot whose operands are laid out (dot_products.h). f16 and bf16 accumulate in f32.
struct Dot {
  Type lhs, rhs, result;
  DotAttributes attributes;
  bool has_bias = false;  ///< one value for each column of the result, added first
  Activation activation = Activation::none;
  bool tf32 = false;  ///< may round f32 operands to ten bits of mantissa
};

/// The bytes of workspace that it takes on the GPU of that index; nothing where cuBLASLt has no
/// algorithm for it. Throws Error where there is no such GPU or no cuBLASLt. Thread-safe.
std::optional<std::int64_t> dot_workspace(const Dot& dot, int gpu);

/// Its buffers are: lhs, rhs, the bias if it has one, the result, and the workspace, which no other
/// task may use meanwhile, unless that has 0 bytes. All lie at multiples of 64 bytes. Throws Error
/// as `dot_workspace` does, and where there is no algorithm. Thread-safe.
DeviceTask make_dot(const Dot& dot, int gpu);

}  // namespace anabranch::cuda
