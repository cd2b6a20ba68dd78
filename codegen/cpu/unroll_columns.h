// Columns side by side: short rows whose columns are computed differently, as a stack of arrays
// along its last axis is.
//
//   for i < 1000 { for j < 3 { out[i * 3 + j] = j < 1 ? sin(a[i]) : j < 2 ? cos(a[i]) : a[i] } }
//
//   for i < 1000 {
//     out[i * 3] = sin(a[i])
//     out[i * 3 + 1] = cos(a[i])
//     out[i * 3 + 2] = a[i]
//   }
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// The innermost loop written out where lanes that are rows have less to do than lanes that run
/// along them: these compute every column for each and choose. What columns have in common is
/// computed once a row.
Kernel unroll_columns(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
