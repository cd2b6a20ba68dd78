// Loops and branches of steps, run by the strand that comes to them: no thread waits for a step of
// theirs, and none of it passes through the host's thread.
#pragma once

#include <memory>
#include <span>

#include "runtime/executable.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {

/// A run of `launch`, a loop or a branch, on `buffers`, both of which outlive it. Where it does not
/// end at once, it advances `strand` when it does. The first error in a step fails all that the
/// launch writes.
std::unique_ptr<InnerRun> make_inner_run(const Launch& launch, std::span<void* const> buffers,
                                         Strand& strand);

/// The end of a loop that ran on places: brings each carry from place i of `places` to place i of
/// `home`, with the same places in another order.
void bring_home(const LoopTask& loop, void* const* home, void** places);

}  // namespace anabranch::executor
