// What a device says of blocks of rows.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace anabranch {

/// What a device says of blocks, as measured (of the CPU: codegen/cpu/backend.cpp). The defaults
/// take everything that is too large for the cache apart, as tests want it.
struct BlockCosts {
  /// A value of so many bytes is read from the cache by the step after the one that wrote it; 0
  /// where blocks do not pay at all.
  std::int64_t cached_bytes = 0;
  std::int64_t uncached_bytes = 0;  ///< a value of more is read from memory
  std::int64_t least_rows = 1;      ///< of a product: with fewer it is slower
  double memory_ns_per_byte = 1;    ///< what a byte takes longer in memory than in the cache
  double copy_ns_per_byte = 0;  ///< of what a turn cuts out of an operand, or puts into a result
  double step_ns = 0;           ///< of each step of a turn, however small
  double operation_ns = 0;      ///< of a product
};

/// Whether a value of so many bytes is in memory, and not in the cache, by the time it is read.
inline bool is_large(double bytes, const BlockCosts& costs) {
  return bytes > static_cast<double>(costs.uncached_bytes);
}

/// Multiplications and additions of a dot.
double dot_operations(const Graph& graph, const Node& dot);

}  // namespace anabranch
