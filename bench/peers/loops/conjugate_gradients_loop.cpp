#include <algorithm>

#include "bench/peers/loop.h"

namespace peers {

struct Grid {
  std::int64_t n, steps;
  std::vector<double> b, x, r, p, q;
};

// q = A p, and the sum of p q.
static double multiply(Grid& g) {
  const std::int64_t n = g.n;
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) {
    const double *row = &g.p[i * n], *up = i > 0 ? row - n : nullptr,
                 *down = i < n - 1 ? row + n : nullptr;
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 4.0 * row[j];
      if (up) sum -= up[j];
      if (down) sum -= down[j];
      if (j > 0) sum -= row[j - 1];
      if (j < n - 1) sum -= row[j + 1];
      g.q[i * n + j] = sum;
      total += row[j] * sum;
    }
  }
  return total;
}

// x and r a step further; the sum of r^2.
static double advance(Grid& g, double alpha) {
  double total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::int64_t i = 0; i < g.n * g.n; ++i) {
    g.x[i] += alpha * g.p[i];
    g.r[i] -= alpha * g.q[i];
    total += g.r[i] * g.r[i];
  }
  return total;
}

Benchmark conjugate_gradients_loop() {
  return [](const Inputs& inputs) {
    const auto b = values<double>(inputs, "b");
    const std::int64_t n = inputs.at("b").shape()[0];
    return loops(Grid{n, whole_number(inputs, "steps"), b, b, b, b, b}, [](Grid& g) {
      std::fill(g.x.begin(), g.x.end(), 0.0);
      g.r = g.p = g.b;
      double squared = 0;
      for (const double value : g.r) squared += value * value;
      for (std::int64_t step = 0; step < g.steps; ++step) {
        const double alpha = squared / multiply(g), next = advance(g, alpha), beta = next / squared;
#pragma omp parallel for simd
        for (std::int64_t i = 0; i < g.n * g.n; ++i) g.p[i] = g.r[i] + beta * g.p[i];
        squared = next;
      }
      return Outputs{borrowed(g.x, {g.n, g.n})};
    });
  };
}

}  // namespace peers
