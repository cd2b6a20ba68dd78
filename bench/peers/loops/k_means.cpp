// Ten rounds of k-means: each point to the nearest centre, each centre to the mean of its points.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> clusters(ab::Array points, ab::Array centres, int rounds) {
  const std::int64_t count = centres.shape()[0];
  const auto nearest = [&](const ab::Array& c) {
    const ab::Array apart = points(ab::all, ab::newaxis) - c;
    return ab::argmin(ab::sum(apart * apart, 2), 1);
  };
  const ab::Array last = ab::fori_loop(
      0, rounds,
      [&](const ab::Array&, ab::Array& c) {
        const ab::Array ids = nearest(c);
        const ab::Array sizes = ab::bincount(ids, count).astype(ab::f64);
        return ab::segment_sum(points, ids, count) / sizes(ab::all, ab::newaxis);
      },
      centres);
  return {last, nearest(last)};
}

Benchmark k_means() { return benchmark(clusters, {"points", "centres", "rounds"}); }

}  // namespace peers
