// Dot through cuBLASLt, with the epilogues that it has.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::cuda {

/// The bytes of workspace that a dot whose operands are laid out (products.h) takes on the GPU of
/// that index; nothing where cuBLASLt has no algorithm for it. f16 and bf16 accumulate in f32.
/// Throws Error where there is no such GPU or no cuBLASLt. Thread-safe.
std::optional<std::int64_t> dot_workspace(const DotStep& dot, int gpu);

/// Its buffers are: lhs, rhs, the bias if it has one, the result, and the workspace, which no other
/// task may use meanwhile, unless that has 0 bytes. All are at multiples of 64 bytes. Throws Error
/// as `dot_workspace` does, and where there is no algorithm. Thread-safe.
DeviceTask make_dot(const DotStep& dot, int gpu);

}  // namespace anabranch::cuda
