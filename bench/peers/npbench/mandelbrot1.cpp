// z = z^2 + c of points of the plane while |z| is below 2, counted, in complex numbers.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> escape(ab::Array c, int steps) {
  const auto [z, n] = ab::fori_loop(
      0, steps,
      [&](const ab::Array& step, auto& state) {
        auto& [value, count] = state;
        const ab::Array inside = ab::abs(value) < 2.0;
        return std::pair{ab::where(inside, value * value + c, value),
                         ab::where(inside, step, count)};
      },
      std::pair{ab::zeros_like(c), ab::zeros(c.shape(), ab::i32)});
  return {z, ab::where(n == steps - 1, 0, n)};
}

Benchmark mandelbrot1() { return benchmark(escape, {"c", "steps"}); }

}  // namespace peers
