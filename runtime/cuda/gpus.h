// Which GPUs there are. Without CUDA headers: for all of runtime/.
#pragma once

#include <string>

#include "runtime/cuda/gpu_facts.h"
#include "runtime/device/stream_executor.h"

namespace anabranch::cuda {

/// How many GPUs there are; 0 where there is no driver, or one that is too old.
int gpu_count();
/// Why there are none, in words: no driver, one that is too old, no GPU, a build without CUDA.
std::string why_no_gpu();

/// What the driver says of a GPU; the H100 of gpu_facts.h where there is none of that index. Throws
/// Error where it cannot be opened.
GpuFacts gpu_facts(int index);

/// Made at the first call for it, and never destroyed. Throws Error where there is no such GPU.
StreamExecutor& stream_executor(int index);

}  // namespace anabranch::cuda
