// ThreadMap: which of a kernel's iterations each thread of a GPU takes.
#pragma once

#include <cstdint>

#include "ir/fields.h"

namespace anabranch {

/// Threads in blocks of `groups * members`. A group takes one iteration of the parallel loop at a
/// time; its members share out the innermost loops inside, each taking `vector_width` consecutive
/// iterations in turn.
struct ThreadMap {
  int groups = 1;
  int members = 1;
  bool in_columns = false;  ///< a group is one lane of every warp; otherwise neighbouring threads
  /// Where not 0: the two loops inside the parallel one go by tiles, so many of them each way, and
  /// a block takes one tile at a time.
  std::int64_t tile_rows = 0, tile_columns = 0;
  /// Where not 0: one block of so many threads runs the kernel, as a part of what it runs.
  int block_threads = 0;

  int threads() const { return groups * members; }
  /// In how many turns, of a pack for each member, a group goes through a loop that it shares out.
  std::int64_t turns(std::int64_t extent, int vector_width) const {
    const std::int64_t step = std::int64_t{members} * vector_width;
    return (extent + step - 1) / step;
  }
  bool in_tiles() const { return tile_rows > 0; }
  bool in_one_block() const { return block_threads > 0; }

  bool operator==(const ThreadMap&) const = default;

  static constexpr int most_threads = 1024;      ///< of a block
  static constexpr std::int64_t tile_size = 32;  ///< elements of a tile each way: a warp
};

template <MaybeConst<ThreadMap> Map, class Visitor>
void fields(Map& map, Visitor&& visit) {
  visit("groups", map.groups);
  visit("members", map.members);
  visit("in_columns", map.in_columns);
  visit("tile_rows", map.tile_rows);
  visit("tile_columns", map.tile_columns);
  visit("block_threads", map.block_threads);
}

}  // namespace anabranch
