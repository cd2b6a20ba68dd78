// alpha A x + beta B x.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array products(ab::Array a, ab::Array b, ab::Array x) {
  return 1.5 * ab::matmul(a, x) + 1.2 * ab::matmul(b, x);
}

Benchmark gesummv() { return benchmark(products, {"A", "B", "x"}); }

}  // namespace peers
