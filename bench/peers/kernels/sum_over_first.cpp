// The sum over the first axis of a matrix, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array columns(ab::Array a) { return ab::sum(a, 0); }

Benchmark sum_over_first() { return benchmark(columns, {"A"}); }

}  // namespace peers
