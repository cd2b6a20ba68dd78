// Strip-mining of sums down the columns of a matrix: a few rows at a time are added, along them, to
// what the rows before them came to. So few rows are as many streams as a core's prefetchers follow,
// and the sums of a row stay in its cache.
//
//   for j < 4096 {                       for r < 8 {
//     for k < 64 { sum s = x[k, j] }       for j < 4096 {
//     store y[j] }                           for k < 8 { sum s = x[8 r + k, j] }
//                                            store y[j] = r > 0 ? y[j] + s : s } }
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// Cuts the rows where each result goes to memory as it is, the rows lie pages apart and a row's
/// results are few enough for the cache.
Kernel accumulate_rows(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
