// The host's task for the op `fft`: the batch divided among threads.
#pragma once

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

HostTask fft_task(const CallStep& call);

}  // namespace anabranch
