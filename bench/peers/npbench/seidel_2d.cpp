// The mean of nine neighbours on a square, in place, element after element.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array smooth(ab::Array a, int steps) {
  const std::int64_t n = a.shape()[0];
  const auto row = [n](const ab::Array& i, ab::Array& x) {
    const ab::Range in = ab::range(1, -1), before = ab::range(0, -2), after = ab::range(2);
    const ab::Array above = x(i - 1), own = x(i), below = x(i + 1);
    const ab::Array others = above(before) + above(in) + above(after) + own(in) + own(after) +
                             below(before) + below(in) + below(after);
    const auto [last, means] = ab::scan(
        [](ab::Array& left, ab::Array& sum) {
          const ab::Array mean = (sum + left) / 9.0;
          return std::pair{mean, mean};
        },
        own(0), others);
    return ab::at(x, i, in).set(means);
  };
  return ab::fori_loop(
      0, steps - 1, [&](const ab::Array&, ab::Array& x) { return ab::fori_loop(1, n - 1, row, x); },
      a);
}

Benchmark seidel_2d() { return benchmark(smooth, {"A", "steps"}); }

}  // namespace peers
