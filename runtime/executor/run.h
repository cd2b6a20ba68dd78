// Submitting an executable.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/executor/executable.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

struct ExecutionState;

/// Starts `executable` on `inputs` (device memory of the input types' sizes, which may not be ready
/// yet) and returns its outputs at once; they become ready later. Waits only where the device
/// already has `in_flight_limit` executions in flight. What fails on the way, or an input that
/// failed, arrives as the error of the outputs. Without a `state` nothing is measured or captured.
std::vector<Buffer> run(std::shared_ptr<const Executable> executable, std::vector<Buffer> inputs,
                        std::shared_ptr<ExecutionState> state = nullptr);

/// Makes the devices and threads that `program` runs on, and looks at its inputs, as `run` does:
/// throws Error before they are given away where `run` would.
void prepare_run(const Program& program, std::span<const Buffer> inputs);

/// Waits until nothing submitted before is in flight on any device. Does not throw their errors.
void wait_for_devices();

}  // namespace anabranch
