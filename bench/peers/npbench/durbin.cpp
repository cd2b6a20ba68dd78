// The Yule-Walker equations of r by Durbin's recursion.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array solution(ab::Array r) {
  const std::int64_t n = r.shape()[0];
  const ab::Array place = ab::arange(n);
  const ab::Array first = ab::where(place == 0, -r(0), 0);
  const auto last = ab::fori_loop(
      1, n,
      [&](const ab::Array& k, auto& state) {
        auto& [y, alpha, beta] = state;
        // The first k elements turned round, and zeros behind them.
        const auto turned = [&](const ab::Array& x) {
          return ab::dynamic_slice(ab::concat({ab::flip(x), ab::zeros_like(x)}), {n - k}, {n});
        };
        const ab::Array next_beta = beta * (1 - alpha * alpha);
        const ab::Array next = -(r(k) + ab::vecdot(turned(r), y)) / next_beta;
        return std::tuple{ab::where(place == k, next, y + next * turned(y)), next, next_beta};
      },
      std::tuple{first, -r(0), ab::ones_like(r(0))});
  return std::get<0>(last);
}

Benchmark durbin() { return benchmark(solution, {"r"}); }

}  // namespace peers
