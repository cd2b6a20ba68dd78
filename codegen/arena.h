// Blocks of memory packed into one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace anabranch {

/// Blocks, some pairs of which must not share bytes.
class ArenaBlocks {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  /// `lower_bound`: no packing is smaller. Each pair of `conflicts` is there once, either way.
  ArenaBlocks(std::vector<std::size_t> bytes, const std::vector<Pair>& conflicts,
              std::size_t lower_bound);

  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  std::size_t bytes(std::uint32_t block) const { return bytes_[block]; }
  /// The blocks that must not share bytes with `block`.
  std::span<const std::uint32_t> conflicts(std::uint32_t block) const {
    return {others_.data() + first_[block], first_[block + 1] - first_[block]};
  }
  std::size_t lower_bound() const { return lower_bound_; }

 private:
  std::vector<std::size_t> bytes_;
  std::vector<std::uint32_t> others_;  // of the first block, then of the second, and so on
  std::vector<std::size_t> first_;     // where those of each begin; the end of all comes last
  std::size_t lower_bound_;
};

struct ArenaPacking {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

/// Builds the arena from the bottom: of the blocks that remain, the one that can lie lowest goes on
/// top of what it must not share bytes with (so Burke, Kendall and Whitwell pack strips: A New
/// Placement Heuristic for the Orthogonal Stock-Cutting Problem, 2004); little is left empty where
/// much is live. Several orders decide between equals, and once the largest go first, each into the
/// smallest gap (best fit). While the best is more than a hundredth above the lower bound, orders
/// near it are tried, as many as a multiple of the number of blocks allows. The same blocks always
/// get the same places.
ArenaPacking pack(const ArenaBlocks& blocks);

}  // namespace anabranch
