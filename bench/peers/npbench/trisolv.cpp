// The solution of L x = b, L being lower triangular.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array solution(ab::Array l, ab::Array b) {
  return ab::linalg::solve_triangular(l, b, {.lower = true});
}

Benchmark trisolv() { return benchmark(solution, {"L", "b"}); }

}  // namespace peers
