// Which GPUs there are, and copies between them. Without CUDA headers: for builds without the CUDA
// Toolkit, too.
#pragma once

#include <cstddef>
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

/// Enqueues a copy from the memory of GPU `source` to that of GPU `target`, on a stream of either.
/// Throws Error where the driver refuses it.
void copy_between_gpus(int target, void* to, int source, const void* from, std::size_t bytes,
                       DeviceStream& stream);

}  // namespace anabranch::cuda
