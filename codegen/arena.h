// Blocks of memory packed into one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anabranch {

/// Blocks, some pairs of which must not share bytes.
struct ArenaBlocks {
  std::vector<std::size_t> bytes;
  std::vector<std::vector<std::uint32_t>> conflicts;  ///< of each block, both ways
  /// Orders in which placing them is promising, each a permutation of the blocks.
  std::vector<std::vector<std::uint32_t>> orders;
  std::size_t lower_bound = 0;  ///< no packing is smaller
};

struct ArenaPacking {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

/// Places the blocks one after the other, each into the smallest gap that holds it (best fit).
/// Tries the given orders; while the best is above the lower bound, the blocks that stick out at
/// the top are placed earlier next time. The work is bounded by a multiple of the number of blocks
/// and conflicts, and the same blocks always get the same places.
ArenaPacking pack(const ArenaBlocks& blocks);

}  // namespace anabranch
