// The Cholesky factor of a small matrix.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array factor(ab::Array a) { return ab::linalg::cholesky(a); }

Benchmark cholesky_48() { return benchmark(factor, {"a"}); }

}  // namespace peers
