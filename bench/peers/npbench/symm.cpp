// alpha A B + beta C, of a symmetric A of which the lower triangle counts.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array a, ab::Array b, ab::Array c) {
  const ab::Array whole = ab::tril(a) + ab::matrix_transpose(ab::tril(a, -1));
  return 1.5 * ab::matmul(whole, b) + 1.2 * c;
}

Benchmark symm() { return benchmark(product, {"A", "B", "C"}); }

}  // namespace peers
