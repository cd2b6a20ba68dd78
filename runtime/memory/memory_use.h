// What is known of a device's memory.
#pragma once

#include <cstddef>

namespace anabranch {

/// The alignment of all memory that a device hands out, in bytes.
inline constexpr std::size_t memory_alignment = 64;

/// What a device's allocator holds, in bytes.
struct MemoryUse {
  std::size_t in_use = 0;  ///< handed out now
  std::size_t peak = 0;    ///< the most handed out at once since the last reset
  std::size_t cached = 0;  ///< kept for reuse
};

}  // namespace anabranch
