// The greatest of each column of a matrix, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array columns(ab::Array a) { return ab::max(a, 0); }

Benchmark max_over_first() { return benchmark(columns, {"A"}); }

}  // namespace peers
