// clip(a, 2, 10) * 4 + b * 3 + 9 of integers.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array value(ab::Array a, ab::Array b) { return ab::clip(a, 2, 10) * 4 + b * 3 + 9; }

Benchmark compute() { return benchmark(value, {"a", "b"}); }

}  // namespace peers
