// The covariances of the columns of a table of N observations.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array covariances(ab::Array data) {
  const ab::Array centred = data - ab::mean(data, 0);
  return ab::matmul(ab::matrix_transpose(centred), centred) / (data.shape()[0] - 1);
}

Benchmark covariance() { return benchmark(covariances, {"data"}); }

}  // namespace peers
