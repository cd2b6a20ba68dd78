// The means of data in rings of equal width, ring after ring.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array means(ab::Array data, ab::Array radius, int rings) {
  const ab::Array greatest = ab::max(radius);
  return ab::map(
      [&](ab::Array& ring) {
        const ab::Array low = greatest * ring / rings, high = greatest * (ring + 1) / rings;
        const ab::Array inside = (low <= radius) & (radius < high);
        return ab::sum(ab::where(inside, data, 0)) / ab::sum(inside.astype(ab::f64));
      },
      ab::arange(rings, ab::f64));
}

Benchmark azimint_naive() { return benchmark(means, {"data", "radius", "rings"}); }

}  // namespace peers
