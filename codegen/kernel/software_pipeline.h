// Software pipelining of rows: the loops over one row become one loop that works on several rows at
// once.
//
//   for i < 4096 { for j { max m = in[i, j] }      for block < 32 { for t < 130 {
//                  for j { sum s = f(in[i, j], m) }    for j { max m' = in[t, j]
//                  for j { out[i, j] = ... s } }               sum s' = f(in[t - 1, j], m)
//                                                              out[t - 2, j] = ... s } } }
//
// (M. Lam, "Software Pipelining", PLDI 1988, with a pass over a row as the stage.) One pass over a
// row only loads from memory, one only computes, one only stores; side by side they keep memory and
// arithmetic busy at the same time.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// `kernel` with its rows, the iterations of its one outer loop, worked on in blocks of
/// `block_rows` with their stages side by side; nothing where its rows are not a sequence of loops
/// of equal extents. Results keep their bits: each row's loops run in the same order as before.
std::optional<Kernel> software_pipeline(const Kernel& kernel, std::int64_t block_rows);

}  // namespace anabranch
