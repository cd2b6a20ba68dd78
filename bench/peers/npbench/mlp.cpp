// Three dense layers, relu after the first two and a softmax at the end, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array predict(ab::Array x, ab::Array w1, ab::Array b1, ab::Array w2, ab::Array b2,
                         ab::Array w3, ab::Array b3) {
  x = ab::relu(ab::dense(x, w1, b1));
  x = ab::relu(ab::dense(x, w2, b2));
  return ab::softmax(ab::dense(x, w3, b3));
}

Benchmark mlp() { return benchmark(predict, {"x", "w1", "b1", "w2", "b2", "w3", "b3"}); }

}  // namespace peers
