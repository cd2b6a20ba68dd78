// Target: the facts about a CPU that tiling looks at.
#pragma once

#include <cstdint>

namespace anabranch {

/// The facts about a machine that tiling looks at.
struct Target {
  int vector_bytes = 64;
  std::int64_t cache_bytes = 1 << 20;          ///< of one core (L2)
  std::int64_t non_temporal_bytes = 32 << 20;  ///< a kernel writing more bypasses the caches
};

}  // namespace anabranch
