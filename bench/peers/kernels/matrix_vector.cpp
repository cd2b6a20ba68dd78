// The product of a matrix with a vector, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array x) { return ab::matmul(a, x); }

Benchmark matrix_vector() { return benchmark(product, {"A", "x"}); }

}  // namespace peers
