// Which places in memory are live at the same time, in the partial order of a schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/memory/arena.h"
#include "codegen/memory/lifetimes.h"
#include "ir/program/step_order.h"

namespace anabranch {

/// Live ranges that are added one by one, to be packed.
class LivePlaces {
 public:
  explicit LivePlaces(const StepOrder& order);

  /// The range must begin with one step that all its others come after: a first write. Throws
  /// InternalError where it does not.
  void add(const LiveRange& range, std::size_t bytes);

  /// An offset for each place, in the order of `add`. Two share bytes only where all uses of one
  /// come before all uses of the other.
  ArenaPacking pack() const;

 private:
  struct Place {
    std::size_t bytes = 0;
    StepRef first;
    std::uint32_t begin = 0;  // `first` in the order of all steps
  };

  const std::uint32_t* followers(StepRef step) const {
    return &followers_[step.stream][step.position * streams_];
  }
  Lifetimes lifetimes(const std::vector<std::uint32_t>& by_begin) const;

  const StepOrder& order_;
  std::uint32_t streams_ = 0;
  std::vector<std::vector<std::uint32_t>> index_;  // of each step in the order of all steps
  // By stream, for each of its steps a number per stream: the first step of it that comes after.
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> over_;  // by place and stream: the first step after all its uses
};

}  // namespace anabranch
