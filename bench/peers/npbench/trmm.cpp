// alpha A^T B, where A has ones on its diagonal and counts below it.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array b) {
  return 1.5 * (b + ab::matmul(ab::matrix_transpose(ab::tril(a, -1)), b));
}

Benchmark trmm() { return benchmark(product, {"A", "B"}); }

}  // namespace peers
