// An allocator that runs out of memory on demand: on one thread, or on all others.
#pragma once

#include <cstddef>

namespace anabranch::testing {

/// How memory ends for the calling thread.
struct Shortage {
  long after = 0;         ///< so many allocations are still granted
  bool lasts = false;     ///< until it is over; else one alone is refused
  std::size_t least = 0;  ///< smaller ones are always granted, and do not count
};

/// What the calling thread allocates while one of them lives.
class OutOfMemory {
 public:
  explicit OutOfMemory(const Shortage& shortage);
  ~OutOfMemory();
  OutOfMemory(const OutOfMemory&) = delete;
  OutOfMemory& operator=(const OutOfMemory&) = delete;

  /// How many have been asked for, and how many were refused.
  static long asked();
  static long refused();
};

/// The same of all other threads together, while one of them lives; one allocation is refused.
class OutOfMemoryElsewhere {
 public:
  explicit OutOfMemoryElsewhere(long after);
  ~OutOfMemoryElsewhere();
  OutOfMemoryElsewhere(const OutOfMemoryElsewhere&) = delete;
  OutOfMemoryElsewhere& operator=(const OutOfMemoryElsewhere&) = delete;

  /// Whether it has been.
  bool refused() const;
};

}  // namespace anabranch::testing
