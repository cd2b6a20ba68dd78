// Every second element of an array, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array halves(ab::Array x) { return x(ab::range(0, x.shape()[0], 2)); }

Benchmark every_second() { return benchmark(halves, {"x"}); }

}  // namespace peers
