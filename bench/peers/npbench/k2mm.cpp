// D = alpha A B C + beta D.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array products(ab::Array a, ab::Array b, ab::Array c, ab::Array d) {
  return ab::matmul(1.5 * ab::matmul(a, b), c) + 1.2 * d;
}

Benchmark k2mm() { return benchmark(products, {"A", "B", "C", "D"}); }

}  // namespace peers
