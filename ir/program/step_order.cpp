#include "ir/program/step_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {
namespace {

void check_events(const Program& program) {
  std::size_t commands = 0;
  for (const Stream& stream : program.streams) commands += stream.size();
  if (program.event_count > commands) {
    throw InternalError("schedule",
                        fmt::format("{} events, and {} commands", program.event_count, commands),
                        to_string(program));
  }
  std::vector<int> recorded(program.event_count), waited(program.event_count);
  const auto count = [&](std::vector<int>& counts, EventId event) {
    if (event >= program.event_count) {
      throw InternalError("schedule", fmt::format("event e{} does not exist", event),
                          to_string(program));
    }
    ++counts[event];
  };
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      if (const auto* record = std::get_if<Record>(&command)) count(recorded, record->event);
      if (const auto* wait = std::get_if<Wait>(&command)) count(waited, wait->event);
    }
  }
  for (EventId event = 0; event < program.event_count; ++event) {
    if (recorded[event] > 1 || (recorded[event] == 0 && waited[event] > 0)) {
      throw InternalError("schedule",
                          fmt::format("event e{} is recorded {} times", event, recorded[event]),
                          to_string(program));
    }
  }
}

}  // namespace

StepOrder::StepOrder(const Program& program) : streams_(program.streams.size()), clocks_(streams_) {
  check_events(program);
  std::vector<std::optional<StepRef>> recorded(program.event_count);
  std::vector<std::uint32_t> positions(streams_);
  std::size_t count = 0;
  for (std::uint32_t stream = 0; stream < streams_; ++stream) {
    clocks_[stream].reserve(program.streams[stream].size() * streams_);
    count += program.streams[stream].size();
  }
  steps_.reserve(count);
  const auto advance = [&](std::uint32_t stream) {
    const std::uint32_t position = positions[stream];
    if (position == program.streams[stream].size()) return false;
    const Command& command = program.streams[stream][position];
    const auto* wait = std::get_if<Wait>(&command);
    if (wait && !recorded[wait->event]) return false;
    std::vector<std::uint32_t>& clocks = clocks_[stream];
    clocks.resize((position + 1) * streams_);
    std::uint32_t* mine = &clocks[position * streams_];
    if (position > 0) std::copy_n(mine - streams_, streams_, mine);
    mine[stream] = position + 1;
    if (wait) {
      const std::uint32_t* other = clock(*recorded[wait->event]);
      for (std::size_t i = 0; i < streams_; ++i) mine[i] = std::max(mine[i], other[i]);
    }
    const StepRef here{stream, position};
    if (const auto* record = std::get_if<Record>(&command)) recorded[record->event] = here;
    steps_.push_back(here);
    ++positions[stream];
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t stream = 0; stream < streams_; ++stream) {
      while (advance(stream)) moved = true;
    }
  }
  for (std::uint32_t stream = 0; stream < streams_; ++stream) {
    if (positions[stream] == program.streams[stream].size()) continue;
    throw InternalError("schedule", fmt::format("stream {} waits for ever", stream),
                        to_string(program));
  }
}

SlotUses::SlotUses(const Program& program, const StepOrder& order)
    : outputs_(program.outputs), begin_(program.slots.size() + 1) {
  for (SlotId id = 0; id < program.slots.size(); ++id) {
    if (const auto output = program.slots[id].output) in_output_[*output].push_back(id);
  }
  for (auto& [output, slots] : in_output_) slots.push_back(outputs_.at(output));
  std::vector<std::pair<SlotId, SlotUse>> in_order;
  in_order.reserve(4 * order.steps().size());
  std::vector<const Step*> last_user(program.slots.size());
  for (StepRef ref : order.steps()) {
    const Step* step = step_at(program, ref);
    if (!step) continue;
    for (SlotId id : step->buffers) {
      if (std::exchange(last_user[id], step) == step) continue;
      const auto& writes = step->writes;
      const bool is_written = std::find(writes.begin(), writes.end(), id) != writes.end();
      in_order.push_back({id, {ref, is_written}});
    }
  }
  // Sorted by slot, by counting.
  for (const auto& [id, use] : in_order) ++begin_[id + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  uses_.resize(in_order.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& [id, use] : in_order) uses_[next[id]++] = use;
}

LiveRange::LiveRange(std::span<const SlotUse> uses) {
  parts_.reserve(std::min<std::size_t>(uses.size(), 4));  // seldom on more streams
  for (const SlotUse& use : uses) add(use.step, use.step);
}

void LiveRange::add(StepRef first, StepRef last) {
  for (Part& part : parts_) {
    if (part.first.stream != first.stream) continue;
    part.first.position = std::min(part.first.position, first.position);
    part.last.position = std::max(part.last.position, last.position);
    return;
  }
  parts_.push_back({first, last});
}

void LiveRange::add(const LiveRange& other) {
  for (const Part& part : other.parts_) add(part.first, part.last);
}

bool LiveRange::before(const LiveRange& other, const StepOrder& order) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& mine) {
    return std::all_of(other.parts_.begin(), other.parts_.end(),
                       [&](const Part& theirs) { return order.before(mine.last, theirs.first); });
  });
}

bool LiveRange::before_or_meets(const LiveRange& other, const StepOrder& order) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& mine) {
    return std::all_of(other.parts_.begin(), other.parts_.end(), [&](const Part& theirs) {
      return mine.last == theirs.first || order.before(mine.last, theirs.first);
    });
  });
}

const StepRef* LiveRange::last(const StepOrder& order) const {
  for (const Part& part : parts_) {
    const auto ends = [&](const Part& other) {
      return other.last == part.last || order.before(other.last, part.last);
    };
    if (std::all_of(parts_.begin(), parts_.end(), ends)) return &part.last;
  }
  return nullptr;
}

const StepRef* LiveRange::first(const StepOrder& order) const {
  for (const Part& part : parts_) {
    const auto starts = [&](const Part& other) {
      return other.first == part.first || order.before(part.first, other.first);
    };
    if (std::all_of(parts_.begin(), parts_.end(), starts)) return &part.first;
  }
  return nullptr;
}

bool may_alias(const Program& program, const StepOrder& order, const SlotUses& uses, SlotId read,
               std::span<const SlotId> written) {
  const LiveRange before(uses[read]);
  LiveRange after;
  for (SlotId id : written) after.add(LiveRange(uses[id]));
  if (before.before(after, order)) return true;
  const StepRef* meeting = after.first(order);
  if (!meeting || !before.before_or_meets(after, order)) return false;
  const Step* step = step_at(program, *meeting);
  return step && std::ranges::any_of(step->in_place, [&](const auto& pair) {
           return pair.first == read && std::ranges::find(written, pair.second) != written.end();
         });
}

}  // namespace anabranch
