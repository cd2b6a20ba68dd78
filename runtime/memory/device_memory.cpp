#include "anabranch/device_memory.h"

#include "runtime/device/device_state.h"

namespace anabranch {

MemoryUse memory_use(const Device& device) { return allocator(device).use(); }
void reset_peak_memory(const Device& device) { allocator(device).reset_peak(); }
void release_cached_memory(const Device& device) { allocator(device).release_cached(); }
void set_memory_limit(const Device& device, std::size_t bytes) {
  allocator(device).set_limit(bytes);
}

}  // namespace anabranch
