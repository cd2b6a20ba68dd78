// How a kernel's loops run on a GPU: which iterations each thread takes.
//
//   elementwise      a thread takes a few consecutive iterations, with 16-byte accesses
//   rows             a team, a warp or a whole block, takes a row; its threads share out the loops
//                    inside and combine what they fold
//   columns          neighbouring threads take neighbouring columns; warps may share out the loops
//                    down a column
#pragma once

#include "ir/kernel.h"

namespace anabranch::cuda {

/// Threads in blocks of `teams * members`. A team takes one iteration of the parallel loop at a
/// time; its members share out the innermost loops inside, each taking `vector_width` consecutive
/// iterations in turn.
struct ThreadMap {
  int teams = 1;
  int members = 1;
  bool in_columns = false;  ///< a team is one lane of every warp; otherwise neighbouring threads

  int threads() const { return teams * members; }
};

/// A kernel whose parallel loop, if it has one, is shared out by `map`.
struct MappedKernel {
  Kernel kernel;
  ThreadMap map;

  /// Blocks in which each team takes one iteration; 0 where there is nothing to do.
  std::int64_t blocks() const;
};

/// `kernel` as `lower` made it, with its outer loops merged into a parallel one and told how to
/// run. What it computes does not depend on the device.
MappedKernel map_threads(Kernel kernel);

}  // namespace anabranch::cuda
