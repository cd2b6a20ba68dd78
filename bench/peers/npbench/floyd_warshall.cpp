// The lengths of the shortest paths between all pairs of nodes.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array shortest(ab::Array path) {
  return ab::fori_loop(
      0, path.shape()[0],
      [](const ab::Array& k, ab::Array& p) {
        return ab::minimum(p, p(ab::all, k)(ab::all, ab::newaxis) + p(k));
      },
      path);
}

Benchmark floyd_warshall() { return benchmark(shortest, {"path"}); }

}  // namespace peers
