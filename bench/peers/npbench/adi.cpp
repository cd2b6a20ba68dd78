// Heat on a square by alternating directions: tridiagonal systems along columns, then rows.
#include "bench/peers/benchmark.h"

namespace peers {

struct Line {
  double before, diagonal, after;  // of the matrix
};

// The solutions of tridiagonal systems, one per column of `right`; the values at both ends are 1.
static ab::Array solved(const Line& line, const ab::Array& right) {
  const ab::Array ones = ab::ones_like(right[0]);
  const auto [last, pq] = ab::scan(
      [&](auto& state, ab::Array& r) {
        auto& [p, q] = state;
        const ab::Array pivot = line.before * p + line.diagonal;
        const std::pair next{-line.after / pivot, (r - line.before * q) / pivot};
        return std::pair{next, next};
      },
      std::pair{ab::zeros_like(ones), ones}, right);
  const auto turned = [](const ab::Array& x) { return ab::flip(x, 0); };
  const auto [end, values] = ab::scan(
      [](ab::Array& next, auto& pair) {
        auto& [p, q] = pair;
        const ab::Array value = p * next + q;
        return std::pair{value, value};
      },
      ones, std::pair{turned(pq.first), turned(pq.second)});
  return turned(values);
}

static ab::Array diffuse(ab::Array u, int steps) {
  const std::int64_t n = u.shape()[0];
  const double squared = static_cast<double>(n * n), dt = 1.0 / steps;
  const double mul1 = 2 * dt * squared, mul2 = dt * squared, a = -mul1 / 2, d = -mul2 / 2;
  return ab::fori_loop(
      0, steps,
      [&](const ab::Array&, ab::Array& x) {
        const ab::Range in = ab::range(1, -1), before = ab::range(0, -2), after = ab::range(2);
        const ab::Array inside = solved(
            {a, 1 + mul2, a}, -d * x(in, before) + (1 + 2 * d) * x(in, in) - d * x(in, after));
        const ab::Array v = ab::pad(inside, {1, 0}, {1, 0}, 1.0);
        const ab::Array columns =
            solved({d, 1 + mul2, d},
                   ab::matrix_transpose(-a * v(before) + (1 + 2 * a) * v(in) - a * v(after)));
        const ab::Array rows = ab::matrix_transpose(ab::pad(columns, {1, 0}, {1, 0}, 1.0));
        return ab::at(x, in).set(rows);
      },
      u);
}

Benchmark adi() { return benchmark(diffuse, {"u", "steps"}); }

}  // namespace peers
