// Which results of a kernel may alias an operand that nothing reads later.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Pairs of buffers (read, written): element i of the second is written only after every read of
/// element i of the first, however the kernel is tiled and cut.
std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_buffers(const Kernel& kernel);

}  // namespace anabranch
