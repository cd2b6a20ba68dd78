// Loop fusion: two kernels whose parallel loops walk one array become one kernel, whose iterations
// are blocks of that array: the second loop reads a block while a cache still holds it.
//
//   for i < 1000 parallel { A(i) }             for b < 125 parallel {
//   for c < 125 parallel { B(c) }                for i < 8 { A(8 b + i) }
//                                                for c < 1 { B(b + c) }
//                                              }
//
// (K. Kennedy, K. S. McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
// Fusion and Distribution", LCPC 1993.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// A kernel, and which array each of its arguments is: equal numbers are one array.
struct KernelOnArrays {
  const Kernel& kernel;
  std::span<const std::uint32_t> arrays;
};

/// What makes fusion worth while; as it is, nothing does.
struct LoopFusionCosts {
  std::int64_t least_shared_bytes = INT64_MAX;  ///< of the arrays that are not read twice
  std::int64_t most_block_bytes = 0;            ///< that stay in a cache from loop to loop
  std::int64_t least_blocks = 8;                ///< for threads to share
  std::size_t most_instructions = 2048;         ///< of both kernels, which are copied each time
};

struct FusedLoops {
  Kernel kernel;
  std::vector<std::uint32_t> arrays;  ///< one per argument
};

/// `first` and then `second` as one kernel, a block after the other. Nothing where a block of the
/// second loop would read what another block of the first writes, where the loops cannot be cut
/// into equally many blocks, or where it is not worth while.
std::optional<FusedLoops> fuse_loops(const KernelOnArrays& first, const KernelOnArrays& second,
                                     const LoopFusionCosts& costs);

}  // namespace anabranch
