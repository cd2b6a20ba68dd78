// x1 + A y1 and x2 + y2 A.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> products(ab::Array a, ab::Array x1, ab::Array x2,
                                                ab::Array y1, ab::Array y2) {
  return {x1 + ab::matmul(a, y1), x2 + ab::matmul(y2, a)};
}

Benchmark mvt() { return benchmark(products, {"A", "x1", "x2", "y1", "y2"}); }

}  // namespace peers
