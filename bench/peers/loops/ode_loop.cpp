#include "bench/peers/loop.h"

namespace peers {

struct Populations {
  std::int64_t steps;
  std::vector<double> start, end;
};

struct Pair {
  double x, y;
};

static Pair slope(Pair s) { return {s.x * (1.1 - 0.4 * s.y), s.y * (0.1 * s.x - 0.4)}; }
static Pair moved(Pair s, Pair d, double by) { return {s.x + by * d.x, s.y + by * d.y}; }

Benchmark ode_loop() {
  return [](const Inputs& inputs) {
    const std::vector<double> start = {values<double>(inputs, "x")[0],
                                       values<double>(inputs, "y")[0]};
    return loops(Populations{whole_number(inputs, "steps"), start, start}, [](Populations& p) {
      const double dt = 1e-3;
      Pair s{p.start[0], p.start[1]};
      for (std::int64_t i = 0; i < p.steps; ++i) {
        const Pair a = slope(s), b = slope(moved(s, a, dt / 2)), c = slope(moved(s, b, dt / 2)),
                   d = slope(moved(s, c, dt));
        s = {s.x + dt / 6 * (a.x + 2 * b.x + 2 * c.x + d.x),
             s.y + dt / 6 * (a.y + 2 * b.y + 2 * c.y + d.y)};
      }
      p.end = {s.x, s.y};
      return Outputs{ab::borrow(&p.end[0], ab::Shape(), [] {}),
                     ab::borrow(&p.end[1], ab::Shape(), [] {})};
    });
  };
}

}  // namespace peers
