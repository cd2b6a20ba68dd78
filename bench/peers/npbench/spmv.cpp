// A sparse matrix in compressed rows times a vector: each row goes over its own values.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array product(ab::Array rows, ab::Array columns, ab::Array values, ab::Array x) {
  const auto row = [&](ab::Array first, ab::Array end) {
    const auto is_inside = [&](auto& carry) { return std::get<0>(carry) < end; };
    const auto add_next = [&](auto& carry) {
      auto [k, sum] = carry;
      return std::tuple(k + 1, sum + ab::take(values, k) * ab::take(x, ab::take(columns, k)));
    };
    const auto zero = ab::zeros({}, values.dtype());
    return std::get<1>(ab::while_loop(is_inside, add_next, std::tuple(first, zero)));
  };
  return ab::vmap(row)(rows(ab::range(0, -1)), rows(ab::range(1)));
}

Benchmark spmv() { return benchmark(product, {"rows", "columns", "values", "x"}); }

}  // namespace peers
