// What a group reads in one pass over its row and needs again in a later one stays in registers: a
// row is read from memory once.
//
//   for j { max m = in0[i * 1024 + j] }        for j { %3 = load in0[i * 1024 + j]
//                                         ->           store scratch0[j] = %3
//                                                      max m = %3 }
//   for j { sum s = f(in0[i * 1024 + j]) }     for j { sum s = f(scratch0[j]) }
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cuda {

/// Adds scratch for the loads that several passes share, where every member of a group comes back
/// to the elements that it has read itself, and they are few enough for registers.
Kernel keep_rows(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass keep_rows_pass = {
    "keep_rows", "keep in registers what several passes over a row read", keep_rows};

}  // namespace anabranch::cuda
