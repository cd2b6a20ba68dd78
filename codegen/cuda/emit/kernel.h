// Kernel to CUDA C++.
#pragma once

#include <string>

#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

/// What comes before kernels in a translation unit: the types and functions that they use
/// (device.cuh).
const char* device_text();

/// A function `extern "C" __global__ void NAME(pointers to the read and write buffers)`, to be
/// launched with `block_count(kernel)` blocks, or fewer, of `kernel.threads->threads()` threads.
/// The fused group that it computes stands above it as a comment.
///
/// Where `kernel` is for a part of one block: a function that a kernel calls with its first
/// `kernel.threads->threads()` threads. `kernel` has its threads.
std::string emit_kernel(const Kernel& kernel);

}  // namespace anabranch::cuda
