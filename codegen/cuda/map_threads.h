// How a kernel's loops run on a GPU: which iterations each thread takes.
//
//   elementwise      a thread takes a few consecutive iterations, with 16-byte accesses
//   rows             a team, a warp or a whole block, takes a row; its threads share out the loops
//                    inside and combine what they fold
//   tiles            where what is read lies across what is written: a block takes 32 by 32
//                    elements, which it reads one way and writes the other, through shared memory
//   columns          neighbouring threads take neighbouring columns; warps may share out the loops
//                    down a column
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

/// Threads in blocks of `teams * members`. A team takes one iteration of the parallel loop at a
/// time; its members share out the innermost loops inside, each taking `vector_width` consecutive
/// iterations in turn.
struct ThreadMap {
  int teams = 1;
  int members = 1;
  bool in_columns = false;  ///< a team is one lane of every warp; otherwise neighbouring threads
  /// Where not 0: the two loops inside the parallel one go by tiles, so many of them each way, and
  /// a block takes one tile at a time.
  std::int64_t tile_rows = 0, tile_columns = 0;
  /// One block does all of it, as a part of what it does.
  bool in_one_block = false;

  int threads() const { return teams * members; }
  /// In how many turns, of a pack for each member, a team goes through a loop that it shares out.
  std::int64_t turns(std::int64_t extent, int vector_width) const {
    const std::int64_t step = std::int64_t{members} * vector_width;
    return (extent + step - 1) / step;
  }
  bool in_tiles() const { return tile_rows > 0; }
};

/// Elements of a tile each way: a warp.
inline constexpr std::int64_t tile_size = 32;

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

/// The same for a block of `threads`, a power of two up to 256, that does all of it: whatever all
/// threads of `map` must come to, all threads of the block come to.
MappedKernel map_in_block(Kernel kernel, int threads);

/// Bytes of a block's shared memory that the kernel takes at most.
std::int64_t shared_bytes(const MappedKernel& mapped);

}  // namespace anabranch::cuda
