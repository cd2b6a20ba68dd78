// Skyline: blocks with one interval of time each, stacked in an arena from the bottom up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anabranch {

/// Of the blocks that remain, the one that can lie lowest always goes on top of those it overlaps
/// in time. Seen along time, what is placed has a skyline of level stretches; what fits into the
/// lowest stretch goes there, and a stretch into which nothing fits is raised to its lower
/// neighbour (Sekiyama and others, Profile-guided memory optimization for deep neural networks,
/// 2018). What fits is found in a k-d tree of begins and ends, so n blocks take about n log n.
class Skyline {
 public:
  /// Block i is live from time i to before `ends[i]`, which is greater. Both must outlive this.
  Skyline(const std::vector<std::size_t>& bytes, const std::vector<std::uint32_t>& ends);

  /// An offset for each block. Of several that can lie lowest in one stretch, the first of `order`
  /// goes. False, and offsets for some only, as soon as the top reaches `limit`.
  bool pack(const std::vector<std::uint32_t>& order, std::size_t limit,
            std::vector<std::size_t>& offsets);

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// Blocks whose begins and ends lie within bounds; `first` of the order's are to be placed.
  struct Node {
    std::uint32_t first = none;
    std::uint32_t least_begin = none, greatest_begin = 0, least_end = none, greatest_end = 0;
  };
  /// Level from where it is listed to before `end`; none there where `end` is 0.
  struct Stretch {
    std::size_t height = 0;
    std::uint32_t end = 0, left = none;
  };

  void build(std::uint32_t node, std::uint32_t from, std::uint32_t to, bool by_end,
             std::vector<std::uint32_t>& blocks);
  void update(std::uint32_t node);
  void find(std::uint32_t node, std::uint32_t begin, std::uint32_t end, std::uint32_t& found) const;
  void take(std::uint32_t block);
  void raise(std::uint32_t begin, std::uint32_t end, std::uint32_t at, std::size_t height);
  std::uint32_t joined(std::uint32_t at);
  void push(std::uint32_t at);
  std::uint32_t lowest();

  const std::vector<std::size_t>& bytes_;
  const std::vector<std::uint32_t>& ends_;
  std::vector<Node> nodes_;  // the children of i are 2 i and 2 i + 1
  std::vector<std::uint32_t> leaf_;
  std::vector<Stretch> stretches_;                             // by begin
  std::vector<std::pair<std::size_t, std::uint32_t>> lowest_;  // a heap; some are no longer so
};

}  // namespace anabranch
