// Execution: one run of an executable on the CPU's thread pool.
//
// Streams cost nothing here, so each stream of an execution is a strand of its own: a list of steps
// that one worker at a time walks down. A strand that has to wait is put aside and its worker does
// something else; who makes the event happen puts it back.
#pragma once

#include <memory>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/device_state.h"
#include "runtime/executable.h"

namespace anabranch::cpu {

/// Hands `executable` over to the workers, to begin once all inputs are ready. `outputs` are
/// deferred buffers with pending events.
void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs);

}  // namespace anabranch::cpu
