// Where the threads of a team keep a kernel's scratch, one row for each team.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

class ThreadScratch {
 public:
  enum class Home : std::uint8_t {
    none,     ///< not scratch
    thread,   ///< a team is one thread, which has the row to itself
    by_turn,  ///< each member keeps, in registers, what it alone writes and reads: one pack a turn
    shared    ///< in the block's shared memory
  };

  ThreadScratch(const Kernel& kernel, const ThreadMap& map);

  Home home(std::uint32_t buffer) const { return homes_[buffer]; }
  /// Elements that each member keeps of a `by_turn` buffer.
  std::int64_t kept(std::uint32_t buffer) const { return kept_[buffer]; }
  /// Whether any buffer, and whether any that the loop's body touches or stores, is at home there.
  bool any(Home home) const;
  bool touches(const Loop& loop, Home home) const;
  bool stores(const Loop& loop, Home home) const;
  std::int64_t shared_bytes() const { return shared_bytes_; }
  /// Whether a block has as much shared memory.
  bool fits() const { return shared_bytes_ <= most_shared_bytes; }

  static constexpr std::int64_t most_kept_bytes = 128;  ///< of one buffer, by one thread

 private:
  static constexpr std::int64_t most_shared_bytes = 47 << 10;  // some is for reductions

  const Kernel& kernel_;
  std::vector<Home> homes_;
  std::vector<std::int64_t> kept_;
  std::int64_t shared_bytes_ = 0;
};

}  // namespace anabranch::cuda
