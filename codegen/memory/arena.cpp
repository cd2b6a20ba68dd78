#include "codegen/memory/arena.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "codegen/memory/skyline.h"

namespace anabranch {
namespace {

// Looks at a block, in all tries together: some hundred tries for fifty blocks, two or three for a
// thousand.
constexpr std::size_t least_looks = 30'000, looks_per_block = 40;
constexpr std::size_t looks_in_trees = 40;  // that placing one with `Skyline` takes as long as
// Where more than this many may be live beside each, all pairs take longer to list than to do
// without.
constexpr std::size_t many_beside = 64;
// More than the lower bound by less than this part of it is near enough.
constexpr std::size_t near_enough = 100;

/// Every pair of things that may be live together, from both sides.
class Conflicts {
 public:
  Conflicts(const Lifetimes& lifetimes, const std::vector<Overlap>& overlaps)
      : first_(lifetimes.size() + 1) {
    const std::uint32_t count = lifetimes.size(), streams = lifetimes.streams;
    for (std::uint32_t i = 0; i < count; ++i) first_[i + 1] = first_[i] + overlaps[i].count;
    others_.resize(first_[count]);
    std::vector<std::vector<std::uint32_t>> of_stream(streams);
    for (std::uint32_t i = 0; i < count; ++i) of_stream[lifetimes.stream[i]].push_back(i);
    std::vector<std::size_t> free(first_.begin(), first_.end() - 1), begun(streams);
    for (std::uint32_t i = 0; i < count; ++i) {
      ++begun[lifetimes.stream[i]];
      for (std::uint32_t s = 0; s < streams; ++s) {
        const std::uint32_t over = lifetimes.over[i * streams + s];
        for (std::size_t k = begun[s]; k < of_stream[s].size() && of_stream[s][k] < over; ++k) {
          const std::uint32_t other = of_stream[s][k];
          others_[free[i]++] = other;
          others_[free[other]++] = i;
        }
      }
    }
  }

  std::span<const std::uint32_t> of(std::uint32_t thing) const {
    return {others_.data() + first_[thing], first_[thing + 1] - first_[thing]};
  }

 private:
  std::vector<std::uint32_t> others_;  // of the first thing, then of the second, and so on
  std::vector<std::size_t> first_;     // where those of each begin; the end of all comes last
};

class Packer {
 public:
  explicit Packer(const Lifetimes& lifetimes)
      : lifetimes_(lifetimes),
        count_(lifetimes.size()),
        overlaps_(overlaps(lifetimes)),
        order_(count_),
        rank_(count_),
        looks_left_(std::max(least_looks, looks_per_block * count_)) {
    best_.bytes = SIZE_MAX;
    best_.lower_bound = most_live(lifetimes);
    std::size_t beside = 0;
    for (const Overlap& overlap : overlaps_) beside += overlap.count;
    if (beside > many_beside * count_) {
      skyline_.emplace(lifetimes);
    } else {
      conflicts_.emplace(lifetimes, overlaps_);
    }
  }

  ArenaPacking run() {
    const auto at_bottom = [&] { return skyline_ ? place_by_skyline() : place_from_bottom(); };
    const auto bytes = [&](std::uint32_t i) { return lifetimes_.bytes[i]; };
    try_order([&](std::uint32_t i) { return bytes(i) + overlaps_[i].bytes; }, at_bottom);
    try_order(bytes, at_bottom);
    try_order([&](std::uint32_t i) { return bytes(i) * overlaps_[i].count; }, at_bottom);
    try_order([&](std::uint32_t i) { return overlaps_[i].count; }, at_bottom);
    if (conflicts_) try_order(bytes, [&] { return place_in_gaps(); });
    while (may_go_on()) {
      order_ = best_order_;
      for (std::size_t i = 0; i <= count_ / 32; ++i) {
        std::swap(order_[below(count_)], order_[below(count_)]);
      }
      attempt(at_bottom);
    }
    return std::move(best_);
  }

 private:
  bool may_go_on() const {
    if (best_order_.empty()) return true;
    const std::size_t bound = best_.lower_bound;
    return best_.bytes > bound + bound / near_enough && looks_left_ > 0;
  }

  // Those with the greatest key first, else as they are.
  template <class Key, class Place>
  void try_order(Key key, Place place) {
    if (!may_go_on()) return;
    std::vector<std::pair<std::size_t, std::uint32_t>> keys;
    keys.reserve(count_);
    for (std::uint32_t i = 0; i < count_; ++i) keys.emplace_back(SIZE_MAX - key(i), i);
    std::sort(keys.begin(), keys.end());
    for (std::uint32_t i = 0; i < count_; ++i) order_[i] = keys[i].second;
    attempt(place);
  }

  template <class Place>
  void attempt(Place place) {
    packing_ = {std::vector<std::size_t>(count_, nowhere), 0, best_.lower_bound};
    if (!place() || packing_.bytes >= best_.bytes) return;
    best_ = packing_;
    best_order_ = order_;
  }

  // As `place_from_bottom`, where the pairs are too many to list.
  bool place_by_skyline() {
    look(looks_in_trees * count_);
    if (!skyline_->pack(order_, best_.bytes, packing_.offsets)) return false;
    for (std::uint32_t i = 0; i < count_; ++i) {
      packing_.bytes = std::max(packing_.bytes, packing_.offsets[i] + lifetimes_.bytes[i]);
    }
    return true;
  }

  // False as soon as this cannot become better than the best. What can be lowest is known for each
  // group of the order, and of each group of groups; the skyline only rises, so it changes only
  // where that one's has risen.
  bool place_from_bottom() {
    floor_.assign(count_, 0);
    for (std::uint32_t i = 0; i < count_; ++i) rank_[order_[i]] = i;
    lowest_.clear();
    lowest_of_many_.clear();
    for (std::uint32_t i = 0; i < count_; i += group) lowest_.push_back(i);
    for (std::uint32_t i = 0; i < count_; i += group * group) lowest_of_many_.push_back(i);
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint32_t lowest = lower_of(lowest_of_many_.begin(), lowest_of_many_.end());
      const std::uint32_t block = order_[lowest];
      const std::size_t end = floor_[lowest] + lifetimes_.bytes[block];
      place(block, floor_[lowest]);
      floor_[lowest] = placed;
      risen_.assign(1, lowest);
      for (std::uint32_t other : conflicts_->of(block)) {
        const std::uint32_t rank = rank_[other];
        if (floor_[rank] >= end) continue;
        floor_[rank] = end;
        if (end + lifetimes_.bytes[other] >= best_.bytes) return false;
        if (lowest_[rank / group] == rank) risen_.push_back(rank);
      }
      find_lowest_again();
    }
    return true;
  }

  void find_lowest_again() {
    for (std::uint32_t rank : risen_) {
      const std::uint32_t begin = rank / group * group, end = std::min(count_, begin + group);
      std::uint32_t lowest = begin;
      for (std::uint32_t i = begin + 1; i < end; ++i) {
        if (floor_[i] < floor_[lowest]) lowest = i;
      }
      lowest_[rank / group] = lowest;
    }
    for (std::uint32_t rank : risen_) {
      std::uint32_t& lowest = lowest_of_many_[rank / group / group];
      if (lowest != rank) continue;
      const auto begin = lowest_.begin() + rank / group / group * group;
      lowest = lower_of(begin, begin + std::min<std::ptrdiff_t>(group, lowest_.end() - begin));
    }
    look(2 * risen_.size());
  }

  // The first of the lowest.
  template <class Iterator>
  std::uint32_t lower_of(Iterator begin, Iterator end) const {
    std::uint32_t lowest = *begin;
    for (auto i = begin + 1; i != end; ++i) {
      if (floor_[*i] < floor_[lowest]) lowest = *i;
    }
    return lowest;
  }

  // Each into the smallest gap that holds it.
  bool place_in_gaps() {
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (std::uint32_t block : order_) {
      taken.clear();
      for (std::uint32_t other : conflicts_->of(block)) {
        if (packing_.offsets[other] == nowhere) continue;
        taken.emplace_back(packing_.offsets[other],
                           packing_.offsets[other] + lifetimes_.bytes[other]);
      }
      look(taken.size());
      std::sort(taken.begin(), taken.end());
      std::size_t best = SIZE_MAX, best_size = SIZE_MAX, free_from = 0;
      for (auto [begin, end] : taken) {
        if (begin >= free_from + lifetimes_.bytes[block] && begin - free_from < best_size) {
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
    packing_.bytes = std::max(packing_.bytes, offset + lifetimes_.bytes[block]);
    look(conflicts_->of(block).size());
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

  const Lifetimes& lifetimes_;
  std::uint32_t count_;
  std::vector<Overlap> overlaps_;
  std::optional<Conflicts> conflicts_;
  std::optional<Skyline> skyline_;
  static constexpr std::size_t placed = SIZE_MAX, nowhere = SIZE_MAX;
  static constexpr std::uint32_t group = 16;

  std::vector<std::uint32_t> order_, best_order_;  // of equals, which goes first
  std::vector<std::uint32_t> rank_;                // of each block in the order
  std::vector<std::size_t> floor_;                 // by rank: how low each can be, or `placed`
  std::vector<std::uint32_t> lowest_;              // by group: the rank of what can be lowest
  std::vector<std::uint32_t> lowest_of_many_;      // the same by group of groups
  std::vector<std::uint32_t> risen_;  // what was the lowest of a group and is so no longer
  ArenaPacking packing_, best_;
  std::size_t looks_left_;
  std::uint64_t seed_ = 0;
};

}  // namespace

ArenaPacking pack(const Lifetimes& lifetimes) {
  if (lifetimes.size() == 0) return {};
  return Packer(lifetimes).run();
}

}  // namespace anabranch
