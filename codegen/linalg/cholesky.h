// The host's task for `cholesky`.
#pragma once

#include <cstdint>

#include "codegen/linalg/matrix_task.h"

namespace anabranch::lapack {

/// On at most `threads` threads.
MatrixTask cholesky_task(const CallStep& call, std::int64_t threads);

}  // namespace anabranch::lapack
