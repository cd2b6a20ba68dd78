// A sparse matrix in compressed rows times a vector.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array rows, ab::Array columns, ab::Array values, ab::Array x) {
  const std::int64_t count = rows.size() - 1;
  const ab::Array places = ab::arange(values.size(), ab::i32);
  const ab::Array row = ab::searchsorted(rows, places, ab::Side::right) - 1;
  return ab::segment_sum(values * ab::take(x, columns, 0, ab::OutOfRange::clip), row, count);
}

Benchmark spmv() { return benchmark(product, {"rows", "columns", "values", "x"}); }

}  // namespace peers
