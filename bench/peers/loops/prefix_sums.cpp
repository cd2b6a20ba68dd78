// The running sums of a long vector.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array sums(ab::Array x) { return ab::cumsum(x); }

Benchmark prefix_sums() { return benchmark(sums, {"x"}); }

}  // namespace peers
