#include "codegen/memory/memory_plan.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "codegen/memory/arena.h"
#include "codegen/memory/live_places.h"
#include "ir/checked.h"
#include "ir/program/step_order.h"

namespace anabranch {
namespace {

constexpr std::size_t alignment = 64;
constexpr int alias_tries = 32;  // for one input on several streams

std::size_t round_up(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Slots that share one place because each is written over the one before it.
struct Place {
  SlotId first, last;  // of a list, by `next_slot_`
  LiveRange range;
  std::size_t bytes = 0;                // in the arena
  std::optional<std::uint32_t> output;  // whose place it is
};

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Program& program)
      : program_(program),
        order_(program),
        uses_(program, order_),
        numbers_(program.streams.size()) {
    for (std::size_t i = 0; i < order_.steps().size(); ++i) {
      numbers_[order_.steps()[i].stream].push_back(i);
    }
  }

  void plan() {
    make_places();
    join_in_place();
    alias_inputs();
    for (DeviceIndex i = 0; i < program_.devices.size(); ++i) fill_arena(i);
  }

 private:
  // An output takes the place of an input that it is written over, else of one that is no longer
  // read.
  void alias_inputs() {
    program_.donations.clear();
    std::vector<bool> gone(program_.slots.size());
    for (SlotId id : program_.outputs) gone[id] = program_.slots[id].kind == input;
    const auto take = [&](SlotId from, SlotId to) {
      program_.donations.emplace_back(program_.slots[from].index, program_.slots[to].index);
      gone[from] = gone[to] = true;
    };
    for (StepRef ref : order_.steps()) {
      const Step* step = step_at(program_, ref);
      if (!step) continue;
      for (auto [from, written] : step->in_place) {
        if (gone[from] || !is(input, from) || !place_of_[written]) continue;
        const Place& place = places_[*place_of_[written]];
        if (!place.output || gone[place.last]) continue;
        if (meet(from, LiveRange(uses_[from]), written, place.range, ref)) take(from, place.last);
      }
    }
    alias_finished_inputs(gone, take);
  }

  // Each by the first output of its size to begin after it; on several streams one of the next few,
  // as not all that begins later comes after.
  template <class Take>
  void alias_finished_inputs(const std::vector<bool>& gone, Take take) {
    struct Beginning {
      DeviceIndex device;
      std::size_t bytes, step;
      SlotId slot;
      auto operator<=>(const Beginning&) const = default;
    };
    const auto beginning = [&](SlotId id, std::size_t step) {
      const Slot& slot = program_.slots[id];
      return Beginning{slot.device, slot.type.bytes(), step, id};
    };
    std::vector<Beginning> outputs;
    for (SlotId to : program_.outputs) {
      if (gone[to] || !is(output, to)) continue;
      outputs.push_back(beginning(to, place_of_[to] ? begin(places_[*place_of_[to]]) : SIZE_MAX));
    }
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());  // returned twice
    std::vector<std::size_t> next(outputs.size() + 1);  // towards the next that is not taken
    std::iota(next.begin(), next.end(), 0);
    const auto free_from = [&](std::size_t i) {
      while (next[i] != i) i = next[i] = next[next[i]];
      return i;
    };
    for (SlotId from = 0; from < program_.slots.size(); ++from) {
      if (gone[from] || !is(input, from) || program_.slots[from].type.bytes() == 0) continue;
      const std::size_t end = uses_[from].empty() ? 0 : number(uses_[from].back()) + 1;
      Beginning after = beginning(from, end);
      after.slot = 0;
      std::size_t i = std::lower_bound(outputs.begin(), outputs.end(), after) - outputs.begin();
      for (int tries = alias_tries; tries > 0; --tries, ++i) {
        i = free_from(i);
        if (i == outputs.size() || !are_alike(from, outputs[i].slot)) break;
        const SlotId to = outputs[i].slot;
        if (!LiveRange(uses_[from]).before(range_of(to), order_)) continue;
        take(from, to);
        next[i] = i + 1;
        break;
      }
    }
  }

  // Where the step stands in the order of all steps.
  std::size_t number(const SlotUse& use) const {
    return numbers_[use.step.stream][use.step.position];
  }
  // Of an output, with what is in its place before it.
  const LiveRange& range_of(SlotId id) const {
    return place_of_[id] ? places_[*place_of_[id]].range : never_;
  }
  // The slots of a place begin in their order.
  std::size_t begin(const Place& place) const { return number(uses_[place.first][0]); }

  // With the places that are on one device.
  void fill_arena(DeviceIndex device) {
    std::vector<const Place*> here;
    LivePlaces live(order_);
    std::int64_t all = 0;  // each has at most 2^62 bytes; sums of a few of them might wrap
    for (const Place& place : places_) {
      if (place.bytes == 0 || program_.slots[place.first].device != device) continue;
      here.push_back(&place);
      live.add(place.range, place.bytes);
      all = saturating_add(all, static_cast<std::int64_t>(place.bytes));
    }
    if (all == std::numeric_limits<std::int64_t>::max()) {
      throw Error("memory: the intermediate arrays have more bytes together than addresses hold");
    }
    const ArenaPacking packing = live.pack();
    program_.devices[device].live_bytes = packing.lower_bound;
    program_.devices[device].arena_bytes = packing.bytes;
    for (std::size_t i = 0; i < here.size(); ++i) {
      for_each_slot(*here[i], [&](SlotId id) { program_.slots[id].offset = packing.offsets[i]; });
    }
  }

  void make_places() {
    place_of_.resize(program_.slots.size());
    next_slot_.resize(program_.slots.size());
    places_.reserve(program_.slots.size());
    for (SlotId id = 0; id < program_.slots.size(); ++id) {
      Slot& slot = program_.slots[id];
      if (is(temporary, id)) {
        slot.offset = 0;  // of what nothing uses, and of what has no bytes
        slot.output.reset();
      } else if (!is(output, id)) {
        continue;
      }
      if (uses_[id].empty()) continue;
      place_of_[id] = places_.size();
      Place& place = places_.emplace_back(Place{id, id, LiveRange(uses_[id]), 0, {}});
      if (is(temporary, id)) {
        place.bytes = round_up(slot.type.bytes());
      } else {
        place.output = slot.index;
      }
    }
  }

  // A step may write over a temporary that it is the last to read. What an update makes an output
  // of is where the output is: otherwise all of it would be copied.
  void join_in_place() {
    for (StepRef ref : order_.steps()) {
      const Step* step = step_at(program_, ref);
      if (!step) continue;
      std::vector<SlotId> taken;
      for (auto [read, written] : step->in_place) {
        const auto is_taken = [&](SlotId id) {
          return std::find(taken.begin(), taken.end(), id) != taken.end();
        };
        if (is_taken(read) || is_taken(written) || !can_join(read, written, ref)) continue;
        if (is(output, written) && !updates(*step, read, written)) continue;
        join(*place_of_[read], *place_of_[written]);
        taken.insert(taken.end(), {read, written});
      }
    }
  }

  static bool updates(const Step& step, SlotId read, SlotId written) {
    return std::ranges::find(step.in_place_updates, std::pair{read, written}) !=
           step.in_place_updates.end();
  }

  bool can_join(SlotId read, SlotId written, StepRef at) const {
    if (!is(temporary, read) || !place_of_[read] || !place_of_[written] ||
        *place_of_[read] == *place_of_[written]) {
      return false;
    }
    return meet(read, places_[*place_of_[read]].range, written, places_[*place_of_[written]].range,
                at);
  }

  // Whether the step is the last to use the one and the first to use the other.
  bool meet(SlotId read, const LiveRange& before, SlotId written, const LiveRange& after,
            StepRef at) const {
    if (read == written || !are_alike(read, written)) return false;
    const StepRef* last = before.last(order_);
    const StepRef* first = after.first(order_);
    return last && first && *last == at && *first == at;
  }

  void join(std::size_t into, std::size_t from) {
    for_each_slot(places_[from], [&](SlotId id) { place_of_[id] = into; });
    next_slot_[places_[into].last] = places_[from].first;
    places_[into].last = places_[from].last;
    places_[into].range.add(places_[from].range);
    places_[into].output = places_[from].output;
    if (places_[into].output) set_output(places_[into]);
    places_[from].bytes = 0;
  }

  void set_output(Place& place) {
    place.bytes = 0;
    for_each_slot(place, [&](SlotId id) {
      Slot& slot = program_.slots[id];
      if (slot.kind != temporary) return;
      slot.offset = Slot::unplaced;
      slot.output = place.output;
    });
  }

  template <class Visit>
  void for_each_slot(const Place& place, Visit visit) const {
    for (SlotId id = place.first; id != place.last; id = next_slot_[id]) visit(id);
    visit(place.last);
  }

  bool is(Slot::Kind kind, SlotId id) const { return program_.slots[id].kind == kind; }
  // So that one may be where the other does.
  bool are_alike(SlotId a, SlotId b) const {
    const Slot &first = program_.slots[a], &second = program_.slots[b];
    return first.type.bytes() == second.type.bytes() && first.device == second.device;
  }

  static constexpr auto input = Slot::Kind::input, output = Slot::Kind::output,
                        temporary = Slot::Kind::temporary;

  Program& program_;
  StepOrder order_;
  SlotUses uses_;
  std::vector<std::vector<std::size_t>> numbers_;
  std::vector<Place> places_;
  const LiveRange never_;
  std::vector<std::optional<std::size_t>> place_of_;
  std::vector<SlotId> next_slot_;  // of the same place
};

}  // namespace

void plan_memory(Program& program) { MemoryPlanner(program).plan(); }

}  // namespace anabranch
