// The kernels of a program as machine code, each for the device that its launch is on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codegen/launches.h"
#include "codegen/options.h"
#include "ir/kernel.h"
#include "runtime/executable.h"

namespace anabranch {

struct NativeCode {
  std::vector<decltype(Launch::task)> tasks;  ///< one per kernel
  std::size_t bytes = 0;                      ///< of machine code
};

/// Compiles the kernels of `launches`: those on CPU devices together, once tiled in place, and
/// those of each GPU together. Throws Error where a GPU cannot be used. Thread-safe.
NativeCode compile_kernels(std::vector<Kernel>& kernels, const Launches& launches,
                           std::span<const Device> devices, const Options& options);

}  // namespace anabranch
