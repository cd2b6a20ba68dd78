// The mean of three neighbours on a line, from A into B and from B into A, step after step.
#include "bench/peers/benchmark.h"

namespace peers {

// `to` with its inside replaced by the means of `from`.
static ab::Array smoothed(const ab::Array& from, const ab::Array& to) {
  return ab::at(to, ab::range(1, -1))
      .set(0.33333 * (from(ab::range(0, -2)) + from(ab::range(1, -1)) + from(ab::range(2))));
}

static std::pair<ab::Array, ab::Array> smooth(ab::Array a, ab::Array b, int steps) {
  return ab::fori_loop(
      1, steps,
      [](const ab::Array&, auto& state) {
        auto& [x, y] = state;
        const ab::Array next = smoothed(x, y);
        return std::pair{smoothed(next, x), next};
      },
      std::pair{a, b});
}

Benchmark jacobi_1d() { return benchmark(smooth, {"A", "B", "steps"}); }

}  // namespace peers
