// The LU factors of A without pivoting, both in one matrix.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array factors(ab::Array a) {
  const std::int64_t n = a.shape()[0];
  const ab::Array place = ab::arange(n);
  return ab::fori_loop(
      0, n - 1,
      [&](const ab::Array& k, ab::Array& m) {
        const ab::Array pivot_row = ab::where(place > k, m(k), 0);
        const ab::Array column = m(ab::all, k);
        const ab::Array below = ab::where(place > k, column / column(k), column);
        const ab::Array factor = ab::where(place > k, below, 0);
        return ab::at(m - ab::outer(factor, pivot_row), ab::all, k).set(below);
      },
      a);
}

Benchmark lu() { return benchmark(factors, {"A"}); }

}  // namespace peers
