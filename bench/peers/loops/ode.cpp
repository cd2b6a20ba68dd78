// Hunters and prey (Lotka and Volterra) by Runge-Kutta steps of fourth order, one pair of numbers.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> populations(ab::Array x, ab::Array y, int steps) {
  using State = std::pair<ab::Array, ab::Array>;
  const double dt = 1e-3;
  const auto slope = [](const State& s) {
    return State{s.first * (1.1 - 0.4 * s.second), s.second * (0.1 * s.first - 0.4)};
  };
  const auto moved = [](const State& s, const State& d, double by) {
    return State{s.first + by * d.first, s.second + by * d.second};
  };
  return ab::fori_loop(
      0, steps,
      [&](const ab::Array&, State& s) {
        const State a = slope(s), b = slope(moved(s, a, dt / 2)), c = slope(moved(s, b, dt / 2)),
                    d = slope(moved(s, c, dt));
        return State{s.first + dt / 6 * (a.first + 2 * b.first + 2 * c.first + d.first),
                     s.second + dt / 6 * (a.second + 2 * b.second + 2 * c.second + d.second)};
      },
      State{x[0], y[0]});
}

Benchmark ode() { return benchmark(populations, {"x", "y", "steps"}); }

}  // namespace peers
