// A dense layer with gelu (by the error function), f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array layer(ab::Array x, ab::Array w, ab::Array b) {
  return ab::gelu(ab::dense(x, w, b));
}

Benchmark dense_gelu() { return benchmark(layer, {"x", "w", "b"}); }

}  // namespace peers
