#include "codegen/memory/live_places.h"

#include <algorithm>
#include <numeric>

#include "anabranch/error.h"

namespace anabranch {
LivePlaces::LivePlaces(const StepOrder& order) : order_(order) {
  for (StepRef step : order.steps()) streams_ = std::max(streams_, step.stream + 1);
  index_.resize(streams_);
  for (std::uint32_t i = 0; i < order.steps().size(); ++i) {
    index_[order.steps()[i].stream].push_back(i);  // the steps of a stream come in order
  }
  followers_.resize(streams_);
  for (std::uint32_t from = 0; from < streams_; ++from) {
    followers_[from].resize(index_[from].size() * streams_);
    for (std::uint32_t to = 0; to < streams_; ++to) {
      std::uint32_t next = 0;
      for (std::uint32_t i = 0; i < index_[from].size(); ++i) {
        while (next < index_[to].size() && !order.before({from, i}, {to, next})) ++next;
        followers_[from][i * streams_ + to] = next;
      }
    }
  }
}

void LivePlaces::add(const LiveRange& range, std::size_t bytes) {
  const StepRef* first = range.first(order_);
  if (!first) throw InternalError("memory plan", "two unordered steps both begin a temporary", "");
  const Place place{bytes, *first, index_[first->stream][first->position]};
  over_.resize(over_.size() + streams_);
  std::uint32_t* over = &over_[places_.size() * streams_];
  for (const LiveRange::Part& part : range.parts()) {
    const std::uint32_t* after = followers(part.last);
    for (std::uint32_t s = 0; s < streams_; ++s) over[s] = std::max(over[s], after[s]);
  }
  places_.push_back(place);
}

// Of the places in the order of their first steps.
Lifetimes LivePlaces::lifetimes(const std::vector<std::uint32_t>& by_begin) const {
  const auto count = static_cast<std::uint32_t>(by_begin.size());
  // By stream and step: the first place that begins with it or after it.
  std::vector<std::vector<std::uint32_t>> from(streams_);
  for (std::uint32_t s = 0; s < streams_; ++s) from[s].assign(index_[s].size() + 1, count);
  for (std::uint32_t i = count; i-- > 0;) {
    const StepRef first = places_[by_begin[i]].first;
    from[first.stream][first.position] = i;
  }
  for (std::vector<std::uint32_t>& places : from) {
    for (std::size_t i = places.size() - 1; i-- > 0;) {
      places[i] = std::min(places[i], places[i + 1]);
    }
  }
  Lifetimes lifetimes{streams_, {}, {}, {}};
  lifetimes.over.reserve(over_.size());
  for (std::uint32_t i : by_begin) {
    lifetimes.bytes.push_back(places_[i].bytes);
    lifetimes.stream.push_back(places_[i].first.stream);
    for (std::uint32_t s = 0; s < streams_; ++s) {
      lifetimes.over.push_back(from[s][over_[i * streams_ + s]]);
    }
  }
  return lifetimes;
}

ArenaPacking LivePlaces::pack() const {
  std::vector<std::uint32_t> by_begin(places_.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return places_[a].begin < places_[b].begin;
  });
  const ArenaPacking packed = anabranch::pack(lifetimes(by_begin));
  ArenaPacking packing = packed;
  for (std::size_t i = 0; i < by_begin.size(); ++i) {
    packing.offsets[by_begin[i]] = packed.offsets[i];
  }
  return packing;
}

}  // namespace anabranch
