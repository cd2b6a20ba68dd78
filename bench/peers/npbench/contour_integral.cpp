// Sums over points of a contour of solutions of (z H0 + H1 + H2 / z) X = Y.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> integral(ab::Array h, ab::Array points, ab::Array y) {
  return ab::fori_loop(
      0, points.size(),
      [&](const ab::Array& i, auto& sums) {
        auto& [p0, p1] = sums;
        const ab::Array z = points(i);
        const ab::Array solution = ab::linalg::solve(z * h[0] + h[1] + h[2] / z, y);
        const ab::Array x = ab::where(ab::abs(z) < 1, -solution, solution);
        return std::pair{p0 + x, p1 + z * x};
      },
      std::pair{ab::zeros_like(y), ab::zeros_like(y)});
}

Benchmark contour_integral() { return benchmark(integral, {"h", "points", "y"}); }

}  // namespace peers
