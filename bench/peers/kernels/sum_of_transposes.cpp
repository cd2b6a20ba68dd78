// The sum of the transposes of three square matrices, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array sum(ab::Array a, ab::Array b, ab::Array c) {
  return ab::matrix_transpose(a) + ab::matrix_transpose(b) + ab::matrix_transpose(c);
}

Benchmark sum_of_transposes() { return benchmark(sum, {"A", "B", "C"}); }

}  // namespace peers
