// LU factors without pivoting, a panel of columns at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/peers/benchmark.h"

namespace peers {

/// Both factors of a panel [rows, columns], whose first rows are square.
inline ab::Array panel_factors(const ab::Array& panel) {
  const std::int64_t rows = panel.shape()[0], columns = panel.shape()[1];
  const ab::Array down = ab::arange(rows), along = ab::arange(columns);
  return ab::fori_loop(
      0, std::min(rows - 1, columns),
      [&](const ab::Array& k, ab::Array& m) {
        const ab::Array pivot_row = ab::where(along > k, m(k), 0);
        const ab::Array column = m(ab::all, k);
        const ab::Array below = ab::where(down > k, column / column(k), column);
        const ab::Array factor = ab::where(down > k, below, 0);
        return ab::at(m - ab::outer(factor, pivot_row), ab::all, k).set(below);
      },
      panel);
}

/// Both factors in one matrix, the unit diagonal of the lower one left out.
inline ab::Array lu_factors(ab::Array m) {
  using ab::range;
  constexpr std::int64_t width = 32;
  const std::int64_t n = m.shape()[0];
  for (std::int64_t begin = 0; begin < n; begin += width) {
    const std::int64_t end = std::min(begin + width, n);
    const ab::Array panel = panel_factors(m(range(begin), range(begin, end)));
    m = ab::at(m, range(begin), range(begin, end)).set(panel);
    if (end == n) break;
    const ab::Array top =
        ab::linalg::solve_triangular(panel(range(0, end - begin)), m(range(begin, end), range(end)),
                                     {.lower = true, .unit_diagonal = true});
    m = ab::at(m, range(begin, end), range(end)).set(top);
    m = ab::at(m, range(end), range(end)).add(-ab::matmul(panel(range(end - begin)), top));
  }
  return m;
}

}  // namespace peers
