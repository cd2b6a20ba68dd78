// Passes over kernels: lists that backends give.
#pragma once

#include <cstdint>

#include "ir/kernel/kernel.h"
#include "passes/driver.h"

namespace anabranch {

template <>
inline constexpr std::string_view form_name<Kernel> = "kernel";

/// The facts about a machine that kernel passes look at.
struct Target {
  int vector_bytes = 64;
  std::int64_t cache_bytes = 1 << 20;          ///< of one core (L2)
  std::int64_t non_temporal_bytes = 32 << 20;  ///< a kernel writing more bypasses the caches
  /// Sums, differences, products and extrema of f16 and of bf16 are instructions, rounded once.
  bool half_arithmetic = false;
};

struct KernelContext {
  Target target = {};
  /// Equal ranges of the parallel loop must write equal and consecutive ranges of every output, as
  /// a dot's epilogue needs.
  bool row_major = false;
  /// Where not 0: threads of the one block that runs the kernel with others.
  int block_threads = 0;
};

using KernelPass = PassOf<Kernel, KernelContext>;

inline Kernel run_passes(std::span<const KernelPass> list, Kernel kernel, KernelContext context,
                         const PassRun& options = {}) {
  return run_list(list, std::move(kernel), context, options);
}

}  // namespace anabranch
