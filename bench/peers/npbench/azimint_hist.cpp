// The means of data in rings of equal width, by two histograms.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array means(ab::Array data, ab::Array radius, int rings) {
  const ab::Array low = ab::min(radius), high = ab::max(radius);
  const ab::Array place = (radius - low) / (high - low) * rings;
  const ab::Array ring = ab::minimum(place.astype(ab::i32), rings - 1);
  return ab::bincount(ring, rings, data) / ab::bincount(ring, rings).astype(ab::f64);
}

Benchmark azimint_hist() { return benchmark(means, {"data", "radius", "rings"}); }

}  // namespace peers
