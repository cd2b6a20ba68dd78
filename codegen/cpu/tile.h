// How a kernel's loops run on a CPU: their order, which is the vector loop, how wide, how far
// unrolled, which stores are non-temporal.
#pragma once

#include <cstdint>

#include "codegen/cpu/target.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// `kernel` as `lower` made it, with its loops rearranged and told how to run. With `row_major`,
/// equal ranges of the parallel loop still write equal and consecutive ranges of every output, as a
/// dot's epilogue needs.
Kernel tile(Kernel kernel, const Target& target, bool row_major = false);

/// The fewest iterations of the parallel loop worth a thread of their own, from the kernel's cost.
std::int64_t grain(const Kernel& kernel);

}  // namespace anabranch
