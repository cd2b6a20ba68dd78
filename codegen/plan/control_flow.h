// Loops and branches: what their regions compiled to becomes the task of one launch.
#pragma once

#include <span>
#include <vector>

#include "codegen/options.h"
#include "codegen/schedule/schedule.h"
#include "ir/kernel/kernel.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// The one of the program's kernels that a launch runs, or null where it runs something else.
const Kernel* kernel_of(std::span<const Kernel> kernels, const Launch& launch);

/// How a device runs a whole loop or branch as one task.
class NativeFlows {
 public:
  virtual ~NativeFlows() = default;
  /// Whether a region is so small that one task might as well run it from end to end. Those that
  /// are have one stream.
  virtual bool is_small(const Program& region) const = 0;
  /// The task of `launch`, a loop or a branch whose regions are all small, on its buffers.
  virtual NativeTask task_of(const Launch& launch) = 0;
  /// The `steer_of` a loop, or of a branch out of `branches`, that goes step by step; its `put` is
  /// null where the device needs the host for that.
  virtual DeviceTask steer_of_loop() { return {}; }
  virtual DeviceTask steer_of_branch(std::size_t branches [[maybe_unused]]) { return {}; }
};

/// Gives `launch`, a `while` with its operands and results as buffers, its task, and `slots` the
/// places and the room that it needs. Small steps become one task, loop included; others go through
/// the executor. Which carries are updated in place, and which go by turns,
/// follows from the schedule of the body.
void finish_loop(Launch& launch, Program condition, Program body, std::vector<Slot>& slots,
                 const Options& options, NativeFlows& native);

/// The same for a `case`.
void finish_branch(Launch& launch, std::vector<Program> branches, std::vector<Slot>& slots,
                   const Options& options, NativeFlows& native);

}  // namespace anabranch
