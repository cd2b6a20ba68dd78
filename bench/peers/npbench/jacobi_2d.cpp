// The mean of five neighbours on a square, from A into B and from B into A, step after step.
#include "bench/peers/benchmark.h"

namespace peers {

using ab::all, ab::range;

// `to` with its inside replaced by the means of `from`.
static ab::Array smoothed(const ab::Array& from, const ab::Array& to) {
  const ab::Range inside = range(1, -1), before = range(0, -2), after = range(2);
  return ab::at(to, inside, inside)
      .set(0.2 * (from(inside, inside) + from(inside, before) + from(inside, after) +
                  from(after, inside) + from(before, inside)));
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

Benchmark jacobi_2d() { return benchmark(smooth, {"A", "B", "steps"}); }

}  // namespace peers
