// Dot through oneDNN, with any elementwise epilogue of our own run on each block of rows while it
// is still in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/attributes.h"
#include "ir/type.h"
#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// An elementwise kernel over the dot's result. Its buffers are: the dot's result, `inputs` further
/// operands, then its outputs. Its parallel loop runs over the result in row-major order.
struct Epilogue {
  HostTask task;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  bool in_place = false;  ///< the dot's result is computed into the first output's memory
};

/// Whether oneDNN computes this dot (f32, bf16, f16); other dtypes are lowered to loops.
bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

/// A dot's tasks, to run one after the other.
struct DotTasks {
  /// Lays out one operand for all blocks of rows; `dot` then reads that in place of the operand.
  struct Share {
    HostTask task;            ///< its buffers: the operand, then `bytes` of room
    std::size_t operand = 1;  ///< 0 is lhs, 1 is rhs
    std::int64_t bytes = 0;
  };
  std::optional<Share> share;
  /// Over blocks of rows. Its buffers are lhs, rhs, the epilogue's further inputs, its outputs (or
  /// the dot's result where there is no epilogue).
  HostTask dot;
};

/// Primitives are created here, not per call; how the rows are cut depends on the shapes alone.
DotTasks make_dot(const Type& lhs, const Type& rhs, const Type& result,
                  const DotAttributes& attributes, std::optional<Epilogue> epilogue);

}  // namespace anabranch::cpu
