// An array scaled by its least and its greatest element, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array scaled(ab::Array x) {
  const ab::Array least = ab::min(x), greatest = ab::max(x);
  return (x - least) / (greatest - least);
}

Benchmark minmax() { return benchmark(scaled, {"x"}); }

}  // namespace peers
