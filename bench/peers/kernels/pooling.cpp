// The greatest of each 2 x 2 elements of an image, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array pooled(ab::Array x) {
  return ab::max(ab::reshape(x, {x.shape()[0] / 2, 2, x.shape()[1] / 2, 2}), {1, 3});
}

Benchmark pooling() { return benchmark(pooled, {"x"}); }

}  // namespace peers
