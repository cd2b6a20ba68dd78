// MappedKernel: a kernel and which of its iterations each thread of a GPU takes.
#pragma once

#include <cstdint>

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

}  // namespace anabranch::cuda
