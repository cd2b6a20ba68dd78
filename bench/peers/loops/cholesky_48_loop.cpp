#include <algorithm>
#include <cmath>

#include "bench/peers/loop.h"

namespace peers {

struct Matrix {
  std::int64_t n;
  std::vector<double> a, l;
};

Benchmark cholesky_48_loop() {
  return [](const Inputs& inputs) {
    const auto a = values<double>(inputs, "a");
    return loops(Matrix{inputs.at("a").shape()[0], a, a}, [](Matrix& m) {
      const std::int64_t n = m.n;
      std::fill(m.l.begin(), m.l.end(), 0.0);
      for (std::int64_t i = 0; i < n; ++i) {
        double *row = &m.l[i * n], *other = m.l.data();
        for (std::int64_t j = 0; j <= i; ++j, other += n) {
          double sum = m.a[i * n + j];
          for (std::int64_t k = 0; k < j; ++k) sum -= row[k] * other[k];
          row[j] = i == j ? std::sqrt(sum) : sum / other[j];
        }
      }
      return Outputs{borrowed(m.l, {n, n})};
    });
  };
}

}  // namespace peers
