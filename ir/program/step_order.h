// StepOrder: which commands of a program come before which, as its streams and events say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ir/program/program.h"

namespace anabranch {

/// A command: its stream, and its place on it.
struct StepRef {
  std::uint32_t stream = 0;
  std::uint32_t position = 0;

  bool operator==(const StepRef&) const = default;
};

/// Null where the command is an event's.
inline const Step* step_at(const Program& program, StepRef ref) {
  return step_of(program, program.streams[ref.stream][ref.position]);
}

/// The partial order of the commands, by vector clocks (Fidge 1988, Mattern 1989): every step knows
/// how many steps of each stream come before it.
class StepOrder {
 public:
  /// Throws InternalError if an event is waited for and never recorded, recorded twice, or if
  /// streams wait for each other for ever.
  explicit StepOrder(const Program& program);

  /// Whether `a` has always ended when `b` starts; false where they are the same step.
  bool before(StepRef a, StepRef b) const { return !(a == b) && clock(b)[a.stream] > a.position; }
  /// All steps, in one order that `before` allows.
  const std::vector<StepRef>& steps() const { return steps_; }
  /// A number per stream: how many steps of it have ended when `step` has.
  std::span<const std::uint32_t> ended_with(StepRef step) const { return {clock(step), streams_}; }

 private:
  const std::uint32_t* clock(StepRef step) const {
    return &clocks_[step.stream][step.position * streams_];
  }

  std::size_t streams_;
  std::vector<std::vector<std::uint32_t>> clocks_;  // per stream, `streams_` numbers per step
  std::vector<StepRef> steps_;
};

/// A step's use of a slot.
struct SlotUse {
  StepRef step;
  bool writes = false;
};

/// For each slot, its uses in the order of `order.steps()`.
class SlotUses {
 public:
  SlotUses(const Program& program, const StepOrder& order);

  std::span<const SlotUse> operator[](SlotId id) const {
    return {uses_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  /// The temporaries that are where output `index` is, and last its own slot.
  std::span<const SlotId> in_output(std::uint32_t index) const {
    const auto several = in_output_.find(index);
    if (several != in_output_.end()) return several->second;
    return {&outputs_[index], 1};
  }

 private:
  std::vector<SlotId> outputs_;
  std::map<std::uint32_t, std::vector<SlotId>> in_output_;  // where temporaries are
  std::vector<SlotUse> uses_;         // of the first slot, then of the second, and so on
  std::vector<std::uint32_t> begin_;  // where those of each begin; the end of all comes last
};

/// The uses of one slot, or of several that share bytes: the first and the last on each stream.
class LiveRange {
 public:
  /// The uses on one stream.
  struct Part {
    StepRef first, last;
  };

  LiveRange() = default;
  explicit LiveRange(std::span<const SlotUse> uses);

  bool empty() const { return parts_.empty(); }
  /// One for each stream that has any uses.
  std::span<const Part> parts() const { return parts_; }
  void add(const LiveRange& other);
  /// Whether every use of this comes before every use of `other`.
  bool before(const LiveRange& other, const StepOrder& order) const;
  /// The same, but one step may be the last use of this and the first of `other`.
  bool before_or_meets(const LiveRange& other, const StepOrder& order) const;

  /// The step that all other uses come before; null if there is no such step.
  const StepRef* last(const StepOrder& order) const;
  /// The step that comes before all other uses; null if there is no such step.
  const StepRef* first(const StepOrder& order) const;

 private:
  void add(StepRef first, StepRef last);

  std::vector<Part> parts_;
};

/// Whether `written`, slots in one place, may be where `read` is, all of one size: every use of
/// `read` comes before every use of `written`, but for one step that names two of them `in_place`.
bool may_alias(const Program& program, const StepOrder& order, const SlotUses& uses, SlotId read,
               std::span<const SlotId> written);

}  // namespace anabranch
