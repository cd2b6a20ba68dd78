// The step at which each point of the plane leaves the disc of radius 2, in real numbers.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array escape(ab::Array x0, ab::Array y0, int steps) {
  const ab::Array none = ab::zeros(ab::broadcast_arrays({x0, y0})[0].shape(), ab::f64);
  const auto [x, y, n] = ab::fori_loop(
      0, steps,
      [&](const ab::Array& step, auto& state) {
        auto& [re, im, count] = state;
        const ab::Array next_re = re * re - im * im + x0, next_im = 2 * re * im + y0;
        const ab::Array leaves = (count == 0) & (next_re * next_re + next_im * next_im > 4);
        const ab::Array inside = (count == 0) & !leaves;
        return std::tuple{ab::where(inside, next_re, re), ab::where(inside, next_im, im),
                          ab::where(leaves, step + 1, count)};
      },
      std::tuple{none, none, ab::zeros(none.shape(), ab::i32)});
  return n;
}

Benchmark mandelbrot2() { return benchmark(escape, {"x0", "y0", "steps"}); }

}  // namespace peers
