// The transpose of a square matrix, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array transposed(ab::Array a) { return ab::matrix_transpose(a); }

Benchmark transpose() { return benchmark(transposed, {"A"}); }

}  // namespace peers
