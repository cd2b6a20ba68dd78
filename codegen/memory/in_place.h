// Which results of a kernel may alias an operand that nothing reads later.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Pairs of buffers (read, written): element i of the second is written only after every read of
/// element i of the first, however the kernel is tiled and cut, and whichever threads share its
/// loops.
std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_buffers(const Kernel& kernel);

/// Whether this kernel, or the one that passes made it of, may have such a pair: a result that is
/// written only where an operand of its size is read. A pass that writes results before they are
/// what they will be leaves these kernels as they are.
bool may_be_in_place(const Kernel& kernel);

}  // namespace anabranch
