// What a device's memory is used for, and how much of it there may be.
#pragma once

#include <cstddef>

#include "anabranch/device.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// What a device's allocator holds, in bytes.
struct MemoryUse {
  std::size_t in_use = 0;  ///< handed out now
  std::size_t peak = 0;    ///< the most handed out at once since the last reset
  std::size_t cached = 0;  ///< kept for reuse
};

MemoryUse memory_use(const Device& device);
void reset_peak_memory(const Device& device);
/// Gives cached memory back to the system.
void release_cached_memory(const Device& device);

/// The most bytes that a device hands out and keeps; SIZE_MAX for no limit.
void set_memory_limit(const Device& device, std::size_t bytes);

}  // namespace anabranch
