// Ten cheap operations on each element of an array that fits into caches, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array chain(ab::Array x) {
  for (int i = 0; i < 5; ++i) x = x * 0.99f + 0.5f;
  return x;
}

Benchmark cheap_chain() { return benchmark(chain, {"x"}); }

}  // namespace peers
