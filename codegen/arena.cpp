#include "codegen/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace anabranch {
namespace {

// Looks at a block, in all tries together: a fraction of a millisecond for a hundred blocks, about
// two tries for a thousand.
constexpr std::size_t least_looks = 100'000, looks_per_block = 100;
// More than the lower bound by less than this part of it is near enough.
constexpr std::size_t near_enough = 100;

class Packer {
 public:
  explicit Packer(const ArenaBlocks& blocks)
      : blocks_(blocks),
        order_(blocks.size()),
        rank_(blocks.size()),
        looks_left_(std::max(least_looks, looks_per_block * blocks.size())) {
    best_.bytes = SIZE_MAX;
  }

  ArenaPacking run() {
    std::vector<std::size_t> beside(blocks_.size());
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      beside[i] = blocks_.bytes(i);
      for (std::uint32_t other : blocks_.conflicts(i)) beside[i] += blocks_.bytes(other);
    }
    const auto at_bottom = [&] { return place_from_bottom(); };
    try_order([&](std::uint32_t i) { return beside[i]; }, at_bottom);
    try_order([&](std::uint32_t i) { return blocks_.bytes(i); }, [&] { return place_in_gaps(); });
    try_order([&](std::uint32_t i) { return blocks_.bytes(i); }, at_bottom);
    try_order([&](std::uint32_t i) { return blocks_.bytes(i) * blocks_.conflicts(i).size(); },
              at_bottom);
    try_order([&](std::uint32_t i) { return blocks_.conflicts(i).size(); }, at_bottom);
    while (may_go_on()) {
      order_ = best_order_;
      for (std::size_t i = 0; i <= blocks_.size() / 32; ++i) {
        std::swap(order_[below(blocks_.size())], order_[below(blocks_.size())]);
      }
      attempt(at_bottom);
    }
    return std::move(best_);
  }

 private:
  bool may_go_on() const {
    if (best_order_.empty()) return true;
    const std::size_t bound = blocks_.lower_bound();
    return best_.bytes > bound + bound / near_enough && looks_left_ > 0;
  }

  // Those with the greatest key first, else as they are.
  template <class Key, class Place>
  void try_order(Key key, Place place) {
    if (!may_go_on()) return;
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
    attempt(place);
  }

  template <class Place>
  void attempt(Place place) {
    packing_ = {std::vector<std::size_t>(blocks_.size(), nowhere), 0};
    if (!place() || packing_.bytes >= best_.bytes) return;
    best_ = packing_;
    best_order_ = order_;
  }

  // False as soon as this cannot become better than the best. Who can lie lowest is known for each
  // 64 of the order; floors only rise, so it changes only where that one's has risen.
  bool place_from_bottom() {
    const std::uint32_t count = blocks_.size();
    floor_.assign(count, 0);
    for (std::uint32_t i = 0; i < count; ++i) rank_[order_[i]] = i;
    lowest_.clear();
    for (std::uint32_t i = 0; i < count; i += group) lowest_.push_back(i);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t lowest = lowest_[0];
      for (std::uint32_t other : lowest_) {
        if (floor_[other] < floor_[lowest]) lowest = other;
      }
      const std::uint32_t block = order_[lowest];
      const std::size_t end = floor_[lowest] + blocks_.bytes(block);
      place(block, floor_[lowest]);
      floor_[lowest] = placed;
      risen_.assign(1, lowest / group);
      for (std::uint32_t other : blocks_.conflicts(block)) {
        const std::uint32_t rank = rank_[other];
        if (floor_[rank] >= end) continue;
        floor_[rank] = end;
        if (end + blocks_.bytes(other) >= best_.bytes) return false;
        if (lowest_[rank / group] == rank) risen_.push_back(rank / group);
      }
      for (std::uint32_t risen : risen_) {
        const auto first = floor_.begin() + risen * group;
        const auto last = floor_.begin() + std::min(count, (risen + 1) * group);
        lowest_[risen] = static_cast<std::uint32_t>(std::min_element(first, last) - floor_.begin());
      }
      look(lowest_.size() / 8 + risen_.size());
    }
    return true;
  }

  // Each into the smallest gap that holds it.
  bool place_in_gaps() {
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (std::uint32_t block : order_) {
      taken.clear();
      for (std::uint32_t other : blocks_.conflicts(block)) {
        if (packing_.offsets[other] == nowhere) continue;
        taken.emplace_back(packing_.offsets[other], packing_.offsets[other] + blocks_.bytes(other));
      }
      look(taken.size());
      std::sort(taken.begin(), taken.end());
      std::size_t best = SIZE_MAX, best_size = SIZE_MAX, free_from = 0;
      for (auto [begin, end] : taken) {
        if (begin >= free_from + blocks_.bytes(block) && begin - free_from < best_size) {
          best = free_from;
          best_size = begin - free_from;
        }
        free_from = std::max(free_from, end);
      }
      place(block, best == SIZE_MAX ? free_from : best);
      if (packing_.bytes >= best_.bytes) return false;
    }
    return true;
  }

  void place(std::uint32_t block, std::size_t offset) {
    packing_.offsets[block] = offset;
    packing_.bytes = std::max(packing_.bytes, offset + blocks_.bytes(block));
    look(blocks_.conflicts(block).size());
  }

  void look(std::size_t times) { looks_left_ -= std::min(looks_left_, times); }

  // A fixed generator (Steele and Vigna's splitmix64).
  std::size_t below(std::size_t n) {
    seed_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = seed_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % n);
  }

  const ArenaBlocks& blocks_;
  static constexpr std::size_t placed = SIZE_MAX, nowhere = SIZE_MAX;
  static constexpr std::uint32_t group = 64;

  std::vector<std::uint32_t> order_, best_order_;  // of equals, who goes first
  std::vector<std::uint32_t> rank_;                // of each block in the order
  std::vector<std::size_t> floor_;                 // by rank: how low each can lie, or `placed`
  std::vector<std::uint32_t>
      lowest_;  // by group: the rank of who can lie lowest, the first of equals
  std::vector<std::uint32_t> risen_;  // groups of which that is to be found again
  ArenaPacking packing_, best_;
  std::size_t looks_left_;
  std::uint64_t seed_ = 0;
};

}  // namespace

ArenaBlocks::ArenaBlocks(std::vector<std::size_t> bytes, const std::vector<Pair>& conflicts,
                         std::size_t lower_bound)
    : bytes_(std::move(bytes)),
      others_(2 * conflicts.size()),
      first_(bytes_.size() + 1),
      lower_bound_(lower_bound) {
  for (auto [a, b] : conflicts) {
    ++first_[a];
    ++first_[b];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  for (auto [a, b] : conflicts) {
    others_[--first_[a]] = b;
    others_[--first_[b]] = a;
  }
}

ArenaPacking pack(const ArenaBlocks& blocks) {
  if (blocks.size() == 0) return {};
  return Packer(blocks).run();
}

}  // namespace anabranch
