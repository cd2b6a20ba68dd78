// A copy as a task of a device.
#pragma once

#include <cstdint>

#include "runtime/executor/executable.h"

namespace anabranch::cuda {

/// Copies its first buffer to its second.
DeviceTask copy_task(std::int64_t bytes);
/// Whether that is what the task does.
bool is_copy(const DeviceTask& task);

}  // namespace anabranch::cuda
