// Where the threads of a group keep a kernel's scratch, one row for each group.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

class ThreadScratch {
 public:
  enum class Storage : std::uint8_t {
    none,       ///< not scratch
    thread,     ///< a group is one thread, which has the row to itself
    registers,  ///< each member keeps what it alone writes and reads: a pack an iteration
    shared      ///< in the block's shared memory
  };

  ThreadScratch(const Kernel& kernel, const ThreadMap& map);

  Storage storage(std::uint32_t buffer) const { return storage_[buffer]; }
  /// Elements that each member keeps of a `registers` buffer.
  std::int64_t kept(std::uint32_t buffer) const { return kept_[buffer]; }
  /// Whether any buffer, and whether any that the loop's body touches or stores, is kept there.
  bool any(Storage storage) const;
  bool touches(const Loop& loop, Storage storage) const;
  bool stores(const Loop& loop, Storage storage) const;
  std::int64_t shared_bytes() const { return shared_bytes_; }
  /// Whether a block has as much shared memory.
  bool fits() const { return shared_bytes_ <= most_shared_bytes; }

  static constexpr std::int64_t most_kept_bytes = 128;         ///< of one buffer, by one thread
  static constexpr std::int64_t most_shared_bytes = 47 << 10;  ///< some is for reductions
  /// Of a thread that has its row to itself: the driver sets memory aside for every thread that a
  /// GPU can hold, 270,000 of an H100.
  static constexpr std::int64_t most_thread_bytes = 1 << 10;

 private:
  const Kernel& kernel_;
  std::vector<Storage> storage_;
  std::vector<std::int64_t> kept_;
  std::int64_t shared_bytes_ = 0;
};

}  // namespace anabranch::cuda
