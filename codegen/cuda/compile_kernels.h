// Kernels to native code of a GPU, through NVRTC.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codegen/cache.h"
#include "ir/kernel.h"
#include "runtime/executable.h"

namespace anabranch::cuda {

/// What runs each kernel. Each takes pointers to the kernel's read and write buffers.
struct Code {
  std::vector<DeviceTask> tasks;
  std::size_t bytes = 0;  ///< of the cubins
};

/// Compiles kernels as `lower` made them for the GPU of that index, unless `cache` (which may be
/// null) has their code. Throws Error where there is no such GPU or no NVRTC, InternalError, with
/// the text, if NVRTC refuses it. Thread-safe.
Code compile_kernels(std::span<const Kernel> kernels, int gpu, CodeCache* cache = nullptr);

/// Copies its first buffer to its second.
DeviceTask copy_task(std::int64_t bytes);

}  // namespace anabranch::cuda
