// The solution of A x = b by LU without pivoting.
#include "bench/peers/npbench/lu_factors.h"

namespace peers {

static ab::Array solution(ab::Array a, ab::Array b) {
  const ab::Array factors = lu_factors(a);
  const ab::Array y =
      ab::linalg::solve_triangular(factors, b, {.lower = true, .unit_diagonal = true});
  return ab::linalg::solve_triangular(factors, y);
}

Benchmark ludcmp() { return benchmark(solution, {"A", "b"}); }

}  // namespace peers
