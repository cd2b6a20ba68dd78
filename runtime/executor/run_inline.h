// Running a small executable on the thread that asks for it.
#pragma once

#include <span>
#include <vector>

#include "runtime/device/device_state.h"
#include "runtime/executor/executable.h"
#include "runtime/memory/buffer.h"

namespace anabranch::executor {

/// Runs `executable` here and now if it is so small that handing it over would take longer, and if
/// its inputs are there. Whether it did; `outputs` then holds one ready buffer per output slot.
bool run_inline(DeviceState& device, const Executable& executable, std::span<const Buffer> inputs,
                std::vector<Buffer>& outputs);

}  // namespace anabranch::executor
