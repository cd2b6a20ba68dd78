// Poisson's equation on a square grid by steps of conjugate gradients.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array laplacian(const ab::Array& x) {
  const ab::Array y = ab::pad(x, {1, 1}, {1, 1});
  const ab::Range in = ab::range(1, -1), before = ab::range(0, -2), after = ab::range(2);
  return 4.0 * x - y(before, in) - y(after, in) - y(in, before) - y(in, after);
}

static ab::Array solution(ab::Array b, int steps) {
  const auto last = ab::fori_loop(
      0, steps,
      [](const ab::Array&, auto& state) {
        auto& [x, r, p, squared] = state;
        const ab::Array q = laplacian(p), alpha = squared / ab::sum(p * q);
        const ab::Array rest = r - alpha * q, next = ab::sum(rest * rest);
        return std::tuple{x + alpha * p, rest, rest + next / squared * p, next};
      },
      std::tuple{ab::zeros_like(b), b, b, ab::sum(b * b)});
  return std::get<0>(last);
}

Benchmark conjugate_gradients() { return benchmark(solution, {"b", "steps"}); }

}  // namespace peers
