// A dense layer with relu, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array layer(ab::Array x, ab::Array w, ab::Array b) {
  return ab::relu(ab::dense(x, w, b));
}

Benchmark dense_relu() { return benchmark(layer, {"x", "w", "b"}); }

}  // namespace peers
