// Kernel to CUDA C++.
#pragma once

#include <string>

#include "codegen/cuda/map_threads.h"

namespace anabranch::cuda {

/// What comes before kernels in a translation unit: the types and functions that they use
/// (device.cuh).
const char* device_text();

/// A function `extern "C" __global__ void NAME(pointers to the read and write buffers)`, to be
/// launched with `mapped.blocks()` blocks, or fewer, of `mapped.map.threads()` threads. The fused
/// group that it computes stands above it as a comment.
///
/// Where `mapped` is for one block: a function that a kernel calls with its first
/// `mapped.map.threads()` threads.
std::string emit_kernel(const MappedKernel& mapped);

}  // namespace anabranch::cuda
