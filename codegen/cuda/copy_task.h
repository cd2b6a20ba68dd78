// A copy as a task of a device.
#pragma once

#include <cstddef>

#include "runtime/device/task.h"

namespace anabranch::cuda {

/// Copies its first buffer, of that many bytes, to its second.
DeviceTask copy_task(std::size_t bytes);

}  // namespace anabranch::cuda
