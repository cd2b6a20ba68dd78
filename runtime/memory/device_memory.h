// What a device's memory is used for, and how much of it there may be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/device.h"
#include "runtime/memory/memory_use.h"

namespace anabranch {

MemoryUse memory_use(const Device& device);
void reset_peak_memory(const Device& device);
/// Gives cached memory back to the system.
void release_cached_memory(const Device& device);

/// The most bytes that a device hands out and keeps; SIZE_MAX for no limit.
void set_memory_limit(const Device& device, std::size_t bytes);

/// For tests: after that many further allocations on `device`, one fails.
void fail_allocation_after(const Device& device, std::uint64_t allocations);

}  // namespace anabranch
