// Where a loop is cut into pieces, given the iterations at which its body changes.
//
//   seams 1, 99 of 100 iterations, vectors of 8:    [0, 8)  [8, 96)  [96, 100)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anabranch {

struct LoopPiece {
  std::int64_t first = 0, count = 0;

  bool operator==(const LoopPiece&) const = default;
};

/// Pieces of [0, extent) between the `seams`, ascending and inside. They begin at multiples of
/// `width`, the vector that holds a seam being a piece by itself; what is between seams that are
/// close to each other does too.
std::vector<LoopPiece> cut_at_seams(std::int64_t extent, std::span<const std::int64_t> seams,
                                    int width);

/// Fewer pieces: short ones that follow each other become one.
std::vector<LoopPiece> coarser(std::span<const LoopPiece> pieces);

}  // namespace anabranch
