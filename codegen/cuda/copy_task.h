// A copy as a task of a device.
#pragma once

#include <cstddef>

#include "runtime/device/task.h"

namespace anabranch::cuda {

/// Copies its first buffer, of that many bytes on GPU `from`, to its second, on GPU `to`.
DeviceTask copy_task(std::size_t bytes, int from, int to);

}  // namespace anabranch::cuda
