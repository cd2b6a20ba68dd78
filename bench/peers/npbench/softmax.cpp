// The softmax of the last of four axes, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array probabilities(ab::Array x) { return ab::softmax(x); }

Benchmark softmax() { return benchmark(probabilities, {"x"}); }

}  // namespace peers
