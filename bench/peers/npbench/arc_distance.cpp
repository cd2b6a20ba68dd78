// The distances of pairs of points on a sphere.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array distances(ab::Array theta1, ab::Array phi1, ab::Array theta2, ab::Array phi2) {
  const ab::Array half = ab::square(ab::sin((theta2 - theta1) / 2)) +
                         ab::cos(theta1) * ab::cos(theta2) * ab::square(ab::sin((phi2 - phi1) / 2));
  return 2 * ab::atan2(ab::sqrt(half), ab::sqrt(1 - half));
}

Benchmark arc_distance() { return benchmark(distances, {"theta1", "phi1", "theta2", "phi2"}); }

}  // namespace peers
