// alpha A A^T + beta C, the lower triangle; above it C stays.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array update(ab::Array a, ab::Array c) {
  return ab::tril(1.5 * ab::matmul(a, ab::matrix_transpose(a)) + 1.2 * c) + ab::triu(c, 1);
}

Benchmark syrk() { return benchmark(update, {"A", "C"}); }

}  // namespace peers
