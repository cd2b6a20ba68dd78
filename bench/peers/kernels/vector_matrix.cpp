// The product of a vector with a matrix, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array x) { return ab::matmul(x, a); }

Benchmark vector_matrix() { return benchmark(product, {"A", "x"}); }

}  // namespace peers
