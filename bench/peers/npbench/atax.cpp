// A^T (A x).
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array x) { return ab::matmul(ab::matmul(a, x), a); }

Benchmark atax() { return benchmark(product, {"A", "x"}); }

}  // namespace peers
