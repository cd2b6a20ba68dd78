// The product of a square matrix with the transpose of another.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array of_matrices(ab::Array a, ab::Array b) {
  return ab::matmul(a, ab::matrix_transpose(b));
}

Benchmark product_transposed() { return benchmark(of_matrices, {"A", "B"}); }

}  // namespace peers
