// Heat on a plate whose edge is kept at its temperature, step after step.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array heated(ab::Array u, int steps) {
  const ab::Range in = ab::range(1, -1), before = ab::range(0, -2), after = ab::range(2);
  return ab::fori_loop(
      0, steps,
      [&](const ab::Array&, ab::Array& x) {
        const ab::Array centre = x(in, in);
        const ab::Array change =
            x(in, before) + x(in, after) + x(before, in) + x(after, in) - 4.0 * centre;
        return ab::at(x, in, in).set(centre + 0.1 * change);
      },
      u);
}

Benchmark heat() { return benchmark(heated, {"u", "steps"}); }

}  // namespace peers
