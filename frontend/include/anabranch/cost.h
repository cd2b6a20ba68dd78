// What a run computes, moves and takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// What one run moves and computes, for the cost model, the timeline and the tables.
struct Cost {
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t operations = 0;  ///< arithmetic, an approximate op counting as 10

  Cost& operator+=(const Cost& other);
  bool operator==(const Cost&) const = default;
};

/// Sums over one run, each step of a loop and each branch counted once.
struct ProgramCost {
  Cost cost;
  int kernels = 0;
  int library_calls = 0;
  int copies = 0;  ///< from device to device
  int streams = 0;
  int events = 0;
  double predicted_ns = 0;  ///< how long a run takes, as the schedule's prediction says
};

/// Bytes of one run.
struct ProgramMemory {
  std::size_t inputs = 0, outputs = 0, constants = 0;
  std::size_t temporaries = 0;  ///< the arena
  std::size_t lower_bound = 0;  ///< the most temporary bytes live at once
  std::size_t donatable = 0;    ///< outputs that may be where inputs were, if those are donated
};

}  // namespace anabranch
