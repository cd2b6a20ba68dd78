// C = alpha A B + beta C.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array b, ab::Array c) {
  return 1.5 * ab::matmul(a, b) + 1.2 * c;
}

Benchmark gemm() { return benchmark(product, {"A", "B", "C"}); }

}  // namespace peers
