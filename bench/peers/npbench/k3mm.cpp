// G = (A B) (C D).
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array products(ab::Array a, ab::Array b, ab::Array c, ab::Array d) {
  return ab::matmul(ab::matmul(a, b), ab::matmul(c, d));
}

Benchmark k3mm() { return benchmark(products, {"A", "B", "C", "D"}); }

}  // namespace peers
