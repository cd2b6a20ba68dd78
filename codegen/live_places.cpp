#include "codegen/live_places.h"

#include <algorithm>
#include <numeric>

namespace anabranch {
namespace {

// What is looked at for what may be live beside it: the largest live sets, and the largest places.
constexpr std::size_t widened_sets = 8, widened_places = 24;

using Order = std::vector<std::uint32_t>;

// All blocks, those with the greatest key first, the larger of equals, else as they are.
template <class Key>
Order descending(const std::vector<std::size_t>& bytes, Key key) {
  Order order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(key(a), bytes[a]) > std::pair(key(b), bytes[b]);
  });
  return order;
}

}  // namespace

LivePlaces::LivePlaces(const StepOrder& order) : order_(order) {
  for (StepRef step : order.steps()) {
    streams_ = std::max<std::size_t>(streams_, step.stream + 1);
    if (index_.size() < streams_) index_.resize(streams_);
  }
  for (std::uint32_t i = 0; i < order.steps().size(); ++i) {
    index_[order.steps()[i].stream].push_back(i);  // the steps of a stream come in order
  }
}

void LivePlaces::add(const LiveRange& range, std::size_t bytes) {
  Place place{bytes, UINT32_MAX, 0, Clock(streams_, -1), Clock(streams_, INT32_MAX)};
  for (StepRef step : range.lasts()) {
    place.last[step.stream] = static_cast<std::int32_t>(step.position);
    place.end = std::max(place.end, index_[step.stream][step.position]);
  }
  for (StepRef step : range.firsts()) {
    const auto ended = order_.ended_with(step);
    for (std::size_t s = 0; s < streams_; ++s) {
      const auto count = static_cast<std::int32_t>(ended[s]) - (s == step.stream ? 1 : 0);
      place.ended[s] = std::min(place.ended[s], count);
    }
    place.begin = std::min(place.begin, index_[step.stream][step.position]);
  }
  places_.push_back(std::move(place));
}

bool LivePlaces::before(const Place& a, const Place& b) const {
  for (std::size_t s = 0; s < streams_; ++s) {
    if (a.last[s] >= b.ended[s]) return false;
  }
  return true;
}

// By their beginnings, against those that something yet to come may still meet.
void LivePlaces::find_conflicts(ArenaBlocks& blocks) const {
  blocks.conflicts.resize(places_.size());
  Order by_begin(places_.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::sort(by_begin.begin(), by_begin.end(),
            [&](std::uint32_t a, std::uint32_t b) { return places_[a].begin < places_[b].begin; });
  // What has ended on each stream before any step that is still to come, on whichever stream.
  std::vector<std::uint32_t> next_step(streams_);
  Place horizon;
  std::vector<std::uint32_t> active;
  for (std::uint32_t i : by_begin) {
    const Place& place = places_[i];
    horizon.ended.assign(streams_, INT32_MAX);
    for (std::uint32_t s = 0; s < streams_; ++s) {
      std::uint32_t& next = next_step[s];
      while (next < index_[s].size() && index_[s][next] < place.begin) ++next;
      if (next == index_[s].size()) continue;
      const auto ended = order_.ended_with({s, next});
      for (std::size_t t = 0; t < streams_; ++t) {
        const auto count = static_cast<std::int32_t>(ended[t]) - (s == t ? 1 : 0);
        horizon.ended[t] = std::min(horizon.ended[t], count);
      }
    }
    std::erase_if(active, [&](std::uint32_t other) { return before(places_[other], horizon); });
    for (std::uint32_t other : active) {
      if (before(places_[other], place)) continue;
      blocks.conflicts[i].push_back(other);
      blocks.conflicts[other].push_back(i);
    }
    active.push_back(i);
  }
}

// The bytes live at each step, in the order of all steps.
std::vector<std::size_t> LivePlaces::live_sums() const {
  std::vector<std::size_t> begins(order_.steps().size()), ends(order_.steps().size());
  for (const Place& place : places_) {
    begins[place.begin] += place.bytes;
    ends[place.end] += place.bytes;
  }
  std::size_t live = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    live += begins[i];
    begins[i] = live;
    live -= ends[i];
  }
  return begins;
}

std::size_t LivePlaces::lower_bound(const ArenaBlocks& blocks,
                                    const std::vector<std::size_t>& sums) const {
  if (sums.empty()) return 0;
  if (streams_ == 1) return *std::max_element(sums.begin(), sums.end());
  Order steps(sums.size());
  std::iota(steps.begin(), steps.end(), 0);
  const std::size_t looked_at = std::min(widened_sets, steps.size());
  std::partial_sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(looked_at),
                    steps.end(), [&](std::uint32_t a, std::uint32_t b) {
                      return std::pair(sums[b], a) < std::pair(sums[a], b);
                    });
  std::size_t most = 0;
  for (std::size_t i = 0; i < looked_at; ++i) {
    Order live;
    for (std::uint32_t place = 0; place < places_.size(); ++place) {
      const Place& at = places_[place];
      if (at.begin <= steps[i] && steps[i] <= at.end) live.push_back(place);
    }
    most = std::max(most, widened(blocks, live));
  }
  Order largest = descending(blocks.bytes, [&](std::uint32_t i) { return blocks.bytes[i]; });
  largest.resize(std::min(widened_places, largest.size()));
  for (std::uint32_t place : largest) most = std::max(most, widened(blocks, {place}));
  return most;
}

// The bytes of places that conflict with each other, and of others that conflict with all of them
// and with each other, the largest first.
std::size_t LivePlaces::widened(const ArenaBlocks& blocks, const Order& places) const {
  std::vector<std::uint32_t> met(places_.size());  // how many of the set a place conflicts with
  std::uint32_t members = 0;
  std::size_t sum = 0;
  const auto include = [&](std::uint32_t member) {
    ++members;
    sum += places_[member].bytes;
    for (std::uint32_t other : blocks.conflicts[member]) ++met[other];
  };
  for (std::uint32_t place : places) include(place);
  for (;;) {
    std::uint32_t largest = UINT32_MAX;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      if (met[i] != members) continue;
      if (largest == UINT32_MAX || places_[i].bytes > places_[largest].bytes) largest = i;
    }
    if (largest == UINT32_MAX) return sum;
    include(largest);
  }
}

ArenaBlocks LivePlaces::blocks() const {
  ArenaBlocks blocks;
  for (const Place& place : places_) blocks.bytes.push_back(place.bytes);
  find_conflicts(blocks);
  const std::vector<std::size_t> sums = live_sums();
  blocks.lower_bound = lower_bound(blocks, sums);
  std::vector<std::size_t> busiest;  // the most that is live beside each, and with it
  for (const Place& place : places_) {
    busiest.push_back(*std::max_element(sums.begin() + place.begin, sums.begin() + place.end + 1));
  }
  blocks.orders = {
      descending(blocks.bytes, [&](std::uint32_t i) { return blocks.bytes[i]; }),
      descending(blocks.bytes, [&](std::uint32_t i) { return busiest[i]; }),
      descending(blocks.bytes, [&](std::uint32_t i) { return places_[i].end - places_[i].begin; }),
  };
  return blocks;
}

}  // namespace anabranch
