// The host's tasks for the ops of linear algebra: LAPACK on one matrix after the other, batches
// divided among threads.
#pragma once

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

/// For `cholesky`, `triangular_solve`, `lu`, `qr`, `householder_product`, `svd` and `eigh`.
HostTask linear_algebra_task(const CallStep& call);

}  // namespace anabranch
