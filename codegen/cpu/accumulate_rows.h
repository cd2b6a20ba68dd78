// Strip-mining of sums down the columns of a large matrix: a few rows at a time are added, along
// them, to what the rows before them came to. So few rows are as many streams as a core's
// prefetchers follow, and the sums of a panel of columns stay in its cache.
//
//   for j < 100000 {                     for p < 25 {
//     for k < 64 { sum s = x[k, j] }       for r < 8 {
//     store y[j] = s                         for j < 4000 {
//   }                                          for k < 8 { sum s = x[8 r + k, 4000 p + j] }
//                                              store y[4000 p + j] = r > 0 ? y[4000 p + j] + s : s
//                                            } } }
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// Cuts the rows and the columns where these become lanes, each result goes to memory as it is and
/// the rows lie pages apart. Whether and how depends on shapes alone, never on the machine, since
/// sums of floats do.
Kernel accumulate_rows(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
