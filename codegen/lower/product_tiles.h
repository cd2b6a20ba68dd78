// ProductTiles: how a product of matrices is cut, so that sums stay in registers and what they read
// in caches.
#pragma once

#include <cstdint>

namespace anabranch {

/// Sums of `rows` rows, each of `row_bytes` consecutive bytes, are in registers at once. 0 rows: no
/// product is cut.
struct ProductTiles {
  std::int64_t rows = 0, row_bytes = 0;
  /// Of the right operand, laid out anew, that a core's own cache holds beside what else is read.
  std::int64_t packed_bytes = 0;
};

}  // namespace anabranch
