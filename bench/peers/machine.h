// What this machine does at most: the floor under a benchmark's time.
#pragma once

#include <cstddef>

namespace peers {

struct Machine {
  double copy;  ///< bytes read and written in a second by a copy on all cores
  double f32;   ///< operations in a second, a fused multiply-add counting as two
  double f64;
};

/// The copy reads and writes `bytes` in all, again and again, so that few of them stay in a cache.
Machine measure_machine(std::size_t bytes);

}  // namespace peers
