// r A and A p, the two products of a step of the biconjugate gradient method.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> products(ab::Array a, ab::Array p, ab::Array r) {
  return {ab::matmul(r, a), ab::matmul(a, p)};
}

Benchmark bicg() { return benchmark(products, {"A", "p", "r"}); }

}  // namespace peers
