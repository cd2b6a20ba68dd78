// alpha (A B^T + B A^T) + beta C, the lower triangle; above it C stays.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array update(ab::Array a, ab::Array b, ab::Array c) {
  const ab::Array ab_t = ab::matmul(a, ab::matrix_transpose(b));
  return ab::tril(1.5 * (ab_t + ab::matrix_transpose(ab_t)) + 1.2 * c) + ab::triu(c, 1);
}

Benchmark syr2k() { return benchmark(update, {"A", "B", "C"}); }

}  // namespace peers
