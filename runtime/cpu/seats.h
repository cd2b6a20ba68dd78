// Seats: the threads of a pool that are at work, at most one for each core.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cpu/core.h"

namespace anabranch::cpu {

/// Not synchronised: guarded by the pool's mutex.
class Seats {
 public:
  static constexpr int none = -1;

  /// Room for so many: none of the others takes memory while no more are taken.
  void reserve(int count) { seats_.reserve(static_cast<std::size_t>(count)); }

  int taken() const { return taken_; }
  /// For a thread that runs on `core`. It gets the seat that it had before, if that is free: so a
  /// thread keeps to the same share of each task. A new one, which has `none`, gets the first free.
  int take(int before, int core);
  void leave(int seat);
  void set_core(int seat, int core) { seats_[static_cast<std::size_t>(seat)].core = core; }
  /// Whether a thread on another seat runs on `core`, as far as is known.
  bool is_used_beside(int seat, int core) const;

 private:
  struct Seat {
    bool is_taken = false;
    int core = no_core;
  };
  std::vector<Seat> seats_;
  int taken_ = 0;
};

}  // namespace anabranch::cpu
