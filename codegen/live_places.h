// Which places in memory are live at the same time, in the partial order of a schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/arena.h"
#include "runtime/step_order.h"

namespace anabranch {

/// Live ranges that are added one by one, to be packed.
class LivePlaces {
 public:
  explicit LivePlaces(const StepOrder& order);

  void add(const LiveRange& range, std::size_t bytes);

  /// The places as blocks. Two conflict unless all uses of one come before all uses of the other.
  /// The lower bound is the most bytes of places that conflict with each other: those live at once
  /// in one order of the steps that the schedule allows, and what may be live beside them in
  /// others.
  ArenaBlocks blocks() const;

 private:
  using Clock = std::vector<std::int32_t>;  // a number per stream

  struct Place {
    std::size_t bytes = 0;
    std::uint32_t begin = 0, end = 0;  // its first and last step in the order of all steps
    Clock last;                        // its last step on each stream; -1 where it has none
    Clock ended;                       // how many steps have ended on each stream when it begins
  };

  bool before(const Place& a, const Place& b) const;
  void find_conflicts(ArenaBlocks& blocks) const;
  std::vector<std::size_t> live_sums() const;
  std::size_t lower_bound(const ArenaBlocks& blocks, const std::vector<std::size_t>& sums) const;
  std::size_t widened(const ArenaBlocks& blocks, const std::vector<std::uint32_t>& places) const;

  const StepOrder& order_;
  std::size_t streams_ = 0;
  std::vector<std::vector<std::uint32_t>> index_;  // of each step in the order of all steps
  std::vector<Place> places_;
};

}  // namespace anabranch
