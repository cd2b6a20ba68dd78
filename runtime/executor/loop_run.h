// Loops and branches of steps, run by the strand that comes to them: no thread waits for a step of
// theirs, and none of it passes through the host's thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/program/program.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {

/// The buffers of a loop.
struct LoopBuffers {
  LoopBuffers(const LoopStep& loop, std::span<void* const> buffers)
      : initial(buffers.first(loop.carries())),
        captures(buffers.subspan(initial.size(), loop.captures())),
        base(buffers.subspan(initial.size() + captures.size(), loop.rotation.size())),
        flag(static_cast<std::byte*>(buffers.back())),
        arena(flag + loop_flag_bytes) {}

  std::span<void*const> initial, captures, base;
  std::byte *flag, *arena;
};

/// The buffers of a branch after the number.
struct BranchBuffers {
  BranchBuffers(const Program& branch, std::span<void* const> buffers)
      : operands(buffers.subspan(1, branch.inputs.size())),
        results(buffers.subspan(1 + operands.size(), branch.outputs.size())),
        arena(static_cast<std::byte*>(buffers.back())) {}

  std::span<void*const> operands, results;
  std::byte* arena;
};

/// What the end of a loop needs to know of it.
struct Carries {
  explicit Carries(const LoopStep& loop);

  std::vector<std::size_t> bytes;  ///< one per carry
  std::size_t places = 0;
};

/// The end of a loop that ran on places: copies each carry from place i of `places` to place i of
/// `base`, with the same places in another order.
void copy_back(const Carries& carries, void* const* base, void** places);
/// The same on a stream. `workspace` takes any carry that is not in its place.
void enqueue_copy_back(DeviceStream& stream, const Carries& carries, void* const* base,
                       void** places, std::byte* workspace);

}  // namespace anabranch::executor
