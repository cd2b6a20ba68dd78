// CUDA C++ to native code of a GPU, through NVRTC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "anabranch/code_cache.h"
#include "runtime/device/task.h"
#include "runtime/memory/buffer.h"

namespace anabranch::cuda {

/// A `__global__` function and how it is launched.
struct KernelText {
  std::string name;
  std::string text;           ///< its definition, on top of device.cuh
  std::int64_t blocks = 0;    ///< fewer will do; with none there is nothing to run
  int threads = 1;            ///< of each block
  std::size_t buffers = 0;    ///< pointers that it takes
  std::vector<Buffer> fixed;  ///< whose pointers it takes after these
};

/// What runs each kernel. Each takes pointers to the kernel's buffers.
struct Code {
  std::vector<DeviceTask> tasks;
  std::size_t bytes = 0;  ///< of the cubins
};

/// Compiles kernels for the GPU of that index, unless `cache` (which may be null) has their code.
/// Throws Error where there is no such GPU or no NVRTC, InternalError, with the text, if NVRTC
/// refuses it. Thread-safe.
Code compile_kernels(std::span<const KernelText> kernels, int gpu, CodeCache* cache = nullptr);

}  // namespace anabranch::cuda
