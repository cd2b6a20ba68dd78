// Products of many small matrices, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array b) { return ab::matmul(a, b); }

Benchmark batched_product() { return benchmark(product, {"A", "B"}); }

}  // namespace peers
