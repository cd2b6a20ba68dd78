// The LU factors of A without pivoting, both in one matrix.
#include "bench/peers/npbench/lu_factors.h"

namespace peers {

Benchmark lu() { return benchmark(lu_factors, {"A"}); }

}  // namespace peers
