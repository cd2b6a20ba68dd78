// A + u1 v1^T + u2 v2^T, and two products with it.
#include "bench/peers/benchmark.h"

namespace peers {

static std::tuple<ab::Array, ab::Array, ab::Array> products(ab::Array a, ab::Array u1, ab::Array v1,
                                                            ab::Array u2, ab::Array v2, ab::Array w,
                                                            ab::Array x, ab::Array y, ab::Array z) {
  a += ab::outer(u1, v1) + ab::outer(u2, v2);
  x += 1.2 * ab::matmul(y, a) + z;
  return {a, w + 1.5 * ab::matmul(a, x), x};
}

Benchmark gemver() {
  return benchmark(products, {"A", "u1", "v1", "u2", "v2", "w", "x", "y", "z"});
}

}  // namespace peers
