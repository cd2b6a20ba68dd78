// The product of two square matrices.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array of_matrices(ab::Array a, ab::Array b) { return ab::matmul(a, b); }

Benchmark product() { return benchmark(of_matrices, {"A", "B"}); }

}  // namespace peers
