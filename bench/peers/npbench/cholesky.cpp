// The Cholesky factor of A below the diagonal, A above it.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array factor(ab::Array a) { return ab::linalg::cholesky(a) + ab::triu(a, 1); }

Benchmark cholesky() { return benchmark(factor, {"A"}); }

}  // namespace peers
