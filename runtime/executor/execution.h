// Execution: one run of an executable, from inputs to results: on the threads of the host and the
// streams of its devices.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device_state.h"
#include "runtime/executor/executable.h"
#include "runtime/executor/execution_state.h"
#include "runtime/memory/buffer.h"

namespace anabranch::executor {

/// The threads that `program` runs on: what runs could not say that there is none. Throws Error.
void make_threads(const Program& program);

/// Hands `executable` over to the workers, to begin once all inputs are ready. `state` may be null.
/// `outputs` are deferred buffers with pending events.
void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::shared_ptr<ExecutionState> state, std::vector<Buffer> inputs,
            std::vector<Buffer> outputs);

}  // namespace anabranch::executor
