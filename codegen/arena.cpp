#include "codegen/arena.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace anabranch {
namespace {

// Placings of all blocks, beyond the given orders. Where the first order is not already the best,
// some dozens bring random graphs to within a percent of the lower bound.
constexpr int most_repairs = 48;
// Visits of one block while another is placed, in all tries together: a few milliseconds.
constexpr std::size_t least_visits = 20'000, visits_per_block = 300;

using Order = std::vector<std::uint32_t>;

class Packer {
 public:
  explicit Packer(const ArenaBlocks& blocks)
      : blocks_(blocks),
        rank_(blocks.bytes.size()),
        allowed_(std::max(least_visits, visits_per_block * blocks.bytes.size())) {}

  ArenaPacking run() {
    for (const Order& order : blocks_.orders) {
      if (!may_go_on()) break;
      attempt(order);
    }
    for (int i = 0; i < most_repairs && may_go_on(); ++i) {
      Order order = raise_the_top(last_order_, last_);
      if (!attempt(std::move(order))) last_order_ = shuffled(best_order_);
    }
    return std::move(best_);
  }

 private:
  bool may_go_on() const {
    return best_order_.empty() || (best_.bytes > blocks_.lower_bound && visits_ < allowed_);
  }

  // Whether this is the best so far.
  bool attempt(Order order) {
    last_ = place_all(order);
    last_order_ = std::move(order);
    if (!best_order_.empty() && last_.bytes >= best_.bytes) return false;
    best_ = last_;
    best_order_ = last_order_;
    return true;
  }

  ArenaPacking place_all(const Order& order) {
    ArenaPacking packing{std::vector<std::size_t>(order.size()), 0};
    for (std::uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
    for (std::uint32_t block : order) {
      const std::size_t offset = best_gap(block, packing.offsets);
      packing.offsets[block] = offset;
      packing.bytes = std::max(packing.bytes, offset + blocks_.bytes[block]);
    }
    return packing;
  }

  // The beginning of the smallest gap that holds the block, among those placed before it.
  std::size_t best_gap(std::uint32_t block, const std::vector<std::size_t>& offsets) {
    taken_.clear();
    for (std::uint32_t other : blocks_.conflicts[block]) {
      if (rank_[other] > rank_[block]) continue;
      taken_.emplace_back(offsets[other], offsets[other] + blocks_.bytes[other]);
    }
    visits_ += blocks_.conflicts[block].size() + taken_.size();
    std::sort(taken_.begin(), taken_.end());
    std::optional<std::size_t> best;
    std::size_t best_size = SIZE_MAX, free_from = 0;
    for (auto [begin, end] : taken_) {
      if (begin >= free_from + blocks_.bytes[block] && begin - free_from < best_size) {
        best = free_from;
        best_size = begin - free_from;
      }
      free_from = std::max(free_from, end);
    }
    return best.value_or(free_from);
  }

  // The blocks that end above the lower bound go first.
  Order raise_the_top(const Order& order, const ArenaPacking& packing) const {
    Order raised = order;
    std::stable_partition(raised.begin(), raised.end(), [&](std::uint32_t block) {
      return packing.offsets[block] + blocks_.bytes[block] > blocks_.lower_bound;
    });
    return raised;
  }

  // A few blocks change places with near ones, as a fixed generator says (Steele and Vigna's
  // splitmix64).
  Order shuffled(Order order) {
    const auto below = [&](std::size_t n) {
      seed_ += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed_;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return static_cast<std::size_t>((z ^ (z >> 31)) % n);
    };
    for (std::size_t i = 0; i <= order.size() / 16; ++i) {
      const std::size_t from = below(order.size());
      const std::size_t to = std::min(order.size() - 1, from + 1 + below(8));
      std::swap(order[from], order[to]);
    }
    return order;
  }

  const ArenaBlocks& blocks_;
  std::vector<std::uint32_t> rank_;  // of each block in the order at hand
  std::vector<std::pair<std::size_t, std::size_t>> taken_;
  std::size_t visits_ = 0, allowed_;
  std::uint64_t seed_ = 0;
  ArenaPacking best_, last_;
  Order best_order_, last_order_;
};

}  // namespace

ArenaPacking pack(const ArenaBlocks& blocks) {
  if (blocks.bytes.empty()) return {};
  return Packer(blocks).run();
}

}  // namespace anabranch
