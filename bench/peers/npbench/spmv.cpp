// A sparse matrix in compressed rows times a vector.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array rows, ab::Array columns, ab::Array values, ab::Array x) {
  // The row of each value: how many rows after the first have begun before it or there.
  const ab::Array row = ab::cumsum(ab::bincount(rows(ab::range(1, -1)), values.size()));
  return ab::segment_sum(values * ab::take(x, columns, 0, ab::OutOfRange::clip), row,
                         rows.size() - 1);
}

Benchmark spmv() { return benchmark(product, {"rows", "columns", "values", "x"}); }

}  // namespace peers
