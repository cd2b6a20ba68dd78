// A = Q R by the modified Gram-Schmidt method, column after column.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> orthonormal(ab::Array a) {
  const std::int64_t n = a.shape()[1];
  const ab::Array place = ab::arange(n);
  const auto [rest, q, r] = ab::fori_loop(
      0, n,
      [&](const ab::Array& k, auto& state) {
        auto& [left, unit, upper] = state;
        const ab::Array length = ab::norm(left(ab::all, k));
        const ab::Array column = left(ab::all, k) / length;
        const ab::Array row = ab::where(place > k, ab::matmul(column, left), 0);
        return std::tuple{left - ab::outer(column, row), ab::at(unit, ab::all, k).set(column),
                          ab::at(upper, k).set(ab::where(place == k, length, row))};
      },
      std::tuple{a, ab::zeros_like(a), ab::zeros({n, n}, a.dtype())});
  return {q, r};
}

Benchmark gramschmidt() { return benchmark(orthonormal, {"A"}); }

}  // namespace peers
