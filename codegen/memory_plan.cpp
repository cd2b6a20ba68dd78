#include "codegen/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/step_order.h"

namespace anabranch {
namespace {

constexpr std::size_t alignment = 64;
// With more temporaries, the lower bound looks at single streams, to stay cheap.
constexpr std::size_t most_looked_across = 512;

std::size_t round_up(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Temporaries that share one place because each is written over the one before it.
struct Place {
  std::vector<SlotId> slots;
  LiveRange range;
  std::size_t bytes = 0;
  std::size_t offset = 0;
};

class Planner {
 public:
  explicit Planner(Executable& executable)
      : executable_(executable), order_(executable), uses_(slot_uses(executable, order_)) {}

  void plan() {
    make_places();
    join_in_place();
    executable_.live_bytes = live_bytes();
    executable_.arena_bytes = assign_offsets();
    for (const Place& place : places_) {
      for (SlotId id : place.slots) executable_.slots[id].offset = place.offset;
    }
  }

 private:
  void make_places() {
    place_of_.resize(executable_.slots.size());
    for (SlotId id = 0; id < executable_.slots.size(); ++id) {
      const Slot& slot = executable_.slots[id];
      if (slot.kind != Slot::Kind::temporary || uses_[id].empty()) continue;
      place_of_[id] = places_.size();
      places_.push_back({{id}, LiveRange(uses_[id]), round_up(slot.type.bytes()), 0});
    }
  }

  // A launch may write over a temporary that it is the last to read.
  void join_in_place() {
    for (StepRef ref : order_.steps()) {
      const auto* launch = std::get_if<Launch>(&executable_.streams[ref.stream][ref.position]);
      if (!launch) continue;
      std::vector<SlotId> taken;
      for (auto [read, written] : launch->in_place) {
        const auto is_taken = [&](SlotId id) {
          return std::find(taken.begin(), taken.end(), id) != taken.end();
        };
        if (is_taken(read) || is_taken(written) || !can_join(read, written, ref)) continue;
        join(*place_of_[read], *place_of_[written]);
        taken.insert(taken.end(), {read, written});
      }
    }
  }

  bool can_join(SlotId read, SlotId written, StepRef at) const {
    if (read == written || !place_of_[read] || !place_of_[written]) return false;
    if (executable_.slots[read].type.bytes() != executable_.slots[written].type.bytes())
      return false;
    if (*place_of_[read] == *place_of_[written]) return false;
    const LiveRange& before = places_[*place_of_[read]].range;
    const LiveRange& after = places_[*place_of_[written]].range;
    const StepRef* last = before.last(order_);
    const StepRef* first = after.first(order_);
    return last && first && *last == at && *first == at;
  }

  void join(std::size_t into, std::size_t from) {
    for (SlotId id : places_[from].slots) {
      place_of_[id] = into;
      places_[into].slots.push_back(id);
    }
    places_[into].range.add(places_[from].range);
    places_[from] = {};
  }

  // Places of which no two may share need room at once. One such set per step: what is live across
  // it and, where there are several streams, what may be live at the same time on the others.
  std::size_t live_bytes() const {
    const bool look_across = executable_.streams.size() > 1 && places_.size() <= most_looked_across;
    std::size_t most = 0;
    for (StepRef step : order_.steps()) {
      std::vector<const Place*> live;
      for (const Place& place : places_) {
        if (place.bytes && place.range.covers(step, order_)) live.push_back(&place);
      }
      if (look_across) add_concurrent(live);
      const auto add = [](std::size_t sum, const Place* place) { return sum + place->bytes; };
      most = std::max(most, std::accumulate(live.begin(), live.end(), std::size_t{0}, add));
    }
    return most;
  }

  void add_concurrent(std::vector<const Place*>& live) const {
    for (const Place& place : places_) {
      const auto shares = [&](const Place* other) {
        return other == &place || may_share(place, *other);
      };
      if (place.bytes && std::none_of(live.begin(), live.end(), shares)) live.push_back(&place);
    }
  }

  bool may_share(const Place& a, const Place& b) const {
    return a.range.before(b.range, order_) || b.range.before(a.range, order_);
  }

  // Best fit by decreasing size: the smallest gap, among the places live at the same time, that
  // holds the next. Returns the end of the last place.
  std::size_t assign_offsets() {
    std::vector<std::size_t> by_size(places_.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
      return places_[a].bytes > places_[b].bytes;
    });
    std::vector<const Place*> placed;  // by offset
    std::size_t end = 0;
    for (std::size_t index : by_size) {
      Place& place = places_[index];
      if (place.bytes == 0) continue;
      place.offset = best_gap(place, placed);
      end = std::max(end, place.offset + place.bytes);
      const auto at = std::upper_bound(
          placed.begin(), placed.end(), place.offset,
          [](std::size_t offset, const Place* other) { return offset < other->offset; });
      placed.insert(at, &place);
    }
    return end;
  }

  std::size_t best_gap(const Place& place, const std::vector<const Place*>& placed) const {
    std::optional<std::size_t> best;
    std::size_t best_size = SIZE_MAX;
    std::size_t free_from = 0;
    for (const Place* other : placed) {
      if (may_share(place, *other)) continue;
      if (other->offset >= free_from + place.bytes && other->offset - free_from < best_size) {
        best = free_from;
        best_size = other->offset - free_from;
      }
      free_from = std::max(free_from, other->offset + other->bytes);
    }
    return best.value_or(free_from);
  }

  Executable& executable_;
  StepOrder order_;
  std::vector<std::vector<SlotUse>> uses_;
  std::vector<Place> places_;
  std::vector<std::optional<std::size_t>> place_of_;
};

}  // namespace

void plan_memory(Executable& executable) { Planner(executable).plan(); }

}  // namespace anabranch
