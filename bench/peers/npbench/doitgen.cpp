// A[r, q, :] C4 for all r and q.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array c4) { return ab::matmul(a, c4); }

Benchmark doitgen() { return benchmark(product, {"A", "C4"}); }

}  // namespace peers
