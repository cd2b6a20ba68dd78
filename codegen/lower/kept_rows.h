// KeptRows: how much of a row a kernel keeps from one pass over it to a later one.
#pragma once

#include <cstdint>
#include <limits>

namespace anabranch {

/// In bytes, of all that is kept of one row; more is computed again. A CPU's thread has as much as
/// a plan keeps (ir/fusion_plan.h); the threads that share a row on a GPU have what the memory of
/// their block holds, unless each reads what it wrote itself, and a thread that has a row alone
/// has little.
struct KeptRows {
  /// Where a place of the row is that of several loops.
  std::int64_t most_of_loops = std::numeric_limits<std::int64_t>::max();
  /// Where one thread folds it, from the first place to the last.
  std::int64_t most_in_order = std::numeric_limits<std::int64_t>::max();
};

}  // namespace anabranch
