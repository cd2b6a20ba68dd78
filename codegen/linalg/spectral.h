// The host's tasks for eigenvalues and singular values.
#pragma once

#include "codegen/linalg/matrix_task.h"

namespace anabranch::lapack {

/// For `svd`, `eigh`, `eig` and `schur`.
MatrixTask spectral_task(const CallStep& call);

}  // namespace anabranch::lapack
