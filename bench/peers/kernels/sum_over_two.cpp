// The sum over two leading axes of three, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array columns(ab::Array a) { return ab::sum(a, {0, 1}); }

Benchmark sum_over_two() { return benchmark(columns, {"A"}); }

}  // namespace peers
