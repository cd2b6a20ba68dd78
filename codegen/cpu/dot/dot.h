// Dot through oneDNN, with any elementwise epilogue of our own run on each block of rows while it
// is still in the cache.
#pragma once

#include <optional>

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Whether oneDNN computes this dot (f32, bf16, f16); others are lowered to loops: other dtypes,
/// and bf16 where nothing is summed.
bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

/// A dot's tasks, to run one after the other.
struct DotTasks {
  /// Lays out the operand `DotStep::packed` for all blocks of rows. Its buffers: the operand, room.
  std::optional<HostTask> pack;
  /// Over blocks of rows, with the buffers of the step.
  HostTask dot;
};

/// Primitives are created here, not per call; how the rows are cut depends on the shapes alone.
/// `epilogue` runs the kernel of `dot.epilogue`, if there is one: its parallel loop runs over the
/// result in row-major order.
DotTasks make_dot(const DotStep& dot, const HostTask& epilogue = {});

}  // namespace anabranch::cpu
