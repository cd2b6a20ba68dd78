#include "codegen/kernel/loop_pieces.h"

#include <algorithm>

namespace anabranch {
namespace {

// In vectors: what is worth a piece without masks, and how long one with several seams may be.
constexpr std::int64_t least_vectors = 4, most_vectors_of_seams = 8;

}  // namespace

std::vector<LoopPiece> cut_at_seams(std::int64_t extent, std::span<const std::int64_t> seams,
                                    int width) {
  const std::int64_t gap = width > 1 ? least_vectors * width : 1;
  const std::int64_t longest = most_vectors_of_seams * width;
  std::vector<std::int64_t> cuts = {0};
  std::int64_t low = 0, high = 0;  // the vectors that hold the last few seams
  for (const std::int64_t seam : seams) {
    const std::int64_t begin = seam / width * width;
    const std::int64_t end = std::min((seam + width - 1) / width * width, extent);
    const bool is_close = begin - high < gap;
    if (!is_close || end - low > longest) {
      cuts.push_back(low);
      cuts.push_back(high);
      low = is_close ? high : begin;
    }
    high = std::max({high, low, end});
  }
  cuts.push_back(low);
  if (extent - high >= gap) cuts.push_back(high);
  cuts.push_back(extent);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  std::vector<LoopPiece> pieces;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    pieces.push_back({cuts[i], cuts[i + 1] - cuts[i]});
  }
  return pieces;
}

std::vector<LoopPiece> coarser(std::span<const LoopPiece> pieces) {
  std::vector<std::int64_t> counts;
  for (const LoopPiece& piece : pieces) counts.push_back(piece.count);
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  const auto joined = [&](auto&& joins) {
    std::vector<LoopPiece> fewer;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0 && joins(i)) {
        fewer.back().count += pieces[i].count;
      } else {
        fewer.push_back(pieces[i]);
      }
    }
    return fewer;
  };
  const auto is_short = [&](std::size_t i) { return pieces[i].count <= *middle; };
  auto fewer = joined([&](std::size_t i) { return is_short(i - 1) && is_short(i); });
  return fewer.size() < pieces.size() ? fewer : joined([](std::size_t i) { return i % 2 == 1; });
}

}  // namespace anabranch
