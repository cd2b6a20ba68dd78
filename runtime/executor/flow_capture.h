// Loops and branches of steps that a device goes through alone: captured, with what decides.
#pragma once

#include <span>

#include "runtime/executor/executable.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {

/// Puts all of `launch`, a loop or a branch that `steer_of` is there for, on the queue of `strand`,
/// which captures. Throws Error where the device refuses anything of it.
void capture_flow(const Launch& launch, std::span<void* const> buffers, Strand& strand);

}  // namespace anabranch::executor
