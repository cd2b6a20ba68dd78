// The host's tasks for the ops of linear algebra: LAPACK on one matrix after the other, batches
// divided among threads, and a large matrix of some ops, too.
#pragma once

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

/// Whether an op of the kind `call` is one of these tasks.
bool is_linear_algebra(Op op);

/// For `cholesky`, `triangular_solve`, `tridiagonal_solve`, `lu`, `qr`, `qr_pivoted`,
/// `householder_product`, `svd`, `eigh`, `eig` and `schur`, on at most `threads` threads. Results
/// are the same bits whatever their number.
HostTask linear_algebra_task(const CallStep& call, std::int64_t threads);

/// About how many additions and multiplications of real numbers it takes.
double linear_algebra_operations(const CallStep& call);

}  // namespace anabranch
