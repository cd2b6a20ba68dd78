// The host's task for `triangular_solve`.
#pragma once

#include <cstdint>

#include "codegen/linalg/matrix_task.h"

namespace anabranch::lapack {

/// On at most `threads` threads.
MatrixTask triangular_solve_task(const CallStep& call, std::int64_t threads);

}  // namespace anabranch::lapack
