// The correlations of the columns of a table of N observations.
#include <cmath>

#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array correlations(ab::Array data) {
  const std::int64_t n = data.shape()[0], m = data.shape()[1];
  const ab::Array spread = ab::stddev(data, 0);
  const ab::Array centred = data - ab::mean(data, 0);
  const ab::Array unit =
      centred / (std::sqrt(static_cast<double>(n)) * ab::where(spread <= 0.1, 1, spread));
  return ab::where(ab::eye(m, m, 0, ab::f64) != 0, 1, ab::matmul(ab::matrix_transpose(unit), unit));
}

Benchmark correlation() { return benchmark(correlations, {"data"}); }

}  // namespace peers
