// ColumnSums: from which size on a matrix is summed over its first axis in chunks of rows.
#pragma once

#include <cstdint>
#include <limits>

namespace anabranch {

/// How the columns of a matrix are summed: each as a whole or, where it has at least so many bytes,
/// in chunks of rows: so that it is read along its rows, as suits the prefetchers of a core, or so
/// that there is work for all of a GPU.
struct ColumnSums {
  std::int64_t least_chunked_bytes = std::numeric_limits<std::int64_t>::max();
  /// Rows of a chunk at least, where each column has several sums and partial results are as many
  /// times as large.
  std::int64_t least_rows_of_several = 32;
  /// Partial results that are enough work for the device: there are no more.
  std::int64_t most_partials = std::numeric_limits<std::int64_t>::max();
};

}  // namespace anabranch
