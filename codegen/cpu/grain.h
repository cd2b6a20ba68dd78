// How much of a kernel is worth a thread.
#pragma once

#include <cstdint>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// The fewest iterations of the parallel loop worth a thread of their own, from the kernel's cost,
/// where arrays of up to `cached` bytes are in a core's cache.
std::int64_t grain(const Kernel& kernel, double cached);

/// Ranges of the parallel loop begin at multiples of this.
std::int64_t cut(const Kernel& kernel);

}  // namespace anabranch
