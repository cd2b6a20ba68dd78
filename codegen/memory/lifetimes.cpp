#include "codegen/memory/lifetimes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace anabranch {
namespace {

/// The maximum flow from things that are over to things that begin later. Things get what they can
/// one after the other, by augmenting paths; what cannot get more then never can later.
class HandingOn {
 public:
  explicit HandingOn(const Lifetimes& lifetimes)
      : lifetimes_(lifetimes),
        left_(lifetimes.bytes),
        gift_(lifetimes.size(), none),
        by_end_(lifetimes.streams),
        over_(lifetimes.streams),
        closed_(lifetimes.streams),
        taker_(lifetimes.size(), none),
        giver_(lifetimes.size(), none) {
    for (std::uint32_t s = 0; s < lifetimes.streams; ++s) sort_by_end(s);
  }

  /// Bytes that no later thing reuses: the weight of the chains.
  std::size_t run() {
    std::size_t unmet = 0;
    for (std::uint32_t thing = 0; thing < lifetimes_.size(); ++thing) {
      std::size_t wanted = take(thing, lifetimes_.bytes[thing]);
      while (wanted > 0) {
        const std::size_t got = augment(thing, wanted);
        if (got == 0) break;
        wanted -= got;
      }
      unmet += wanted;
    }
    return unmet;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// How far a stream's list of things by end has been gone through.
  struct OverList {
    std::size_t seen = 0;
    std::vector<std::uint32_t> with_bytes;  // a stack: what is over and has bytes left
  };

  std::uint32_t end(std::uint32_t thing, std::uint32_t stream) const {
    return lifetimes_.over[thing * lifetimes_.streams + stream];
  }

  // By counting.
  void sort_by_end(std::uint32_t stream) {
    std::vector<std::uint32_t> at(lifetimes_.size() + 2);
    for (std::uint32_t i = 0; i < lifetimes_.size(); ++i) ++at[end(i, stream) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    by_end_[stream].resize(lifetimes_.size());
    for (std::uint32_t i = 0; i < lifetimes_.size(); ++i) by_end_[stream][at[end(i, stream)]++] = i;
  }

  /// What one thing gives to another; `next` of the same giver.
  struct Gift {
    std::uint32_t taker;
    std::size_t bytes;
    std::uint32_t next;
  };

  std::uint32_t gift(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t i = gift_[from];
    while (i != none && gifts_[i].taker != to) i = gifts_[i].next;
    return i;
  }

  void give(std::uint32_t from, std::uint32_t to, std::size_t bytes) {
    const std::uint32_t i = gift(from, to);
    if (i != none) {
      gifts_[i].bytes += bytes;
    } else {
      gifts_.push_back({to, bytes, gift_[from]});
      gift_[from] = static_cast<std::uint32_t>(gifts_.size() - 1);
    }
  }

  // From whatever is over, the latest first: it is over for the fewest others. Returns what is
  // still wanted.
  std::size_t take(std::uint32_t thing, std::size_t wanted) {
    const std::uint32_t stream = lifetimes_.stream[thing];
    OverList& over = over_[stream];
    const std::vector<std::uint32_t>& by_end = by_end_[stream];
    for (; over.seen < by_end.size() && end(by_end[over.seen], stream) <= thing; ++over.seen) {
      over.with_bytes.push_back(by_end[over.seen]);
    }
    while (wanted > 0 && !over.with_bytes.empty()) {
      const std::uint32_t from = over.with_bytes.back();
      const std::size_t bytes = std::min(wanted, left_[from]);
      if (bytes > 0) give(from, thing, bytes);
      left_[from] -= bytes;
      wanted -= bytes;
      if (left_[from] == 0) over.with_bytes.pop_back();
    }
    return wanted;
  }

  // Breadth first to something with bytes left: over before `thing`, or before another that takes
  // from what is over before `thing`, and so on. Returns what `thing` gets, 0 where there is no
  // such thing; then nothing that was looked at needs to be looked at again.
  std::size_t augment(std::uint32_t thing, std::size_t wanted) {
    takers_.assign(1, thing);
    givers_.clear();
    reached_ = closed_;
    for (std::size_t t = 0; t < takers_.size(); ++t) {
      const std::uint32_t to = takers_[t], stream = lifetimes_.stream[to];
      const std::vector<std::uint32_t>& by_end = by_end_[stream];
      for (; reached_[stream] < by_end.size(); ++reached_[stream]) {
        const std::uint32_t from = by_end[reached_[stream]];
        if (end(from, stream) > to) break;
        if (taker_[from] != none) continue;
        taker_[from] = to;
        givers_.push_back(from);
        if (left_[from] > 0) {
          const std::size_t got = pass(from, thing, wanted);
          for (std::uint32_t giver : givers_) taker_[giver] = none;
          for (std::uint32_t taker : takers_) giver_[taker] = none;
          return got;
        }
        for (std::uint32_t i = gift_[from]; i != none; i = gifts_[i].next) {
          const auto& [other, bytes, next] = gifts_[i];
          if (bytes == 0 || other == thing || giver_[other] != none) continue;
          giver_[other] = from;
          takers_.push_back(other);
        }
      }
    }
    std::swap(closed_, reached_);
    return 0;
  }

  // Along the path that was found: `from` gives, and what gave to its taker gives to another.
  std::size_t pass(std::uint32_t from, std::uint32_t thing, std::size_t wanted) {
    std::size_t bytes = std::min(wanted, left_[from]);
    for (std::uint32_t to = taker_[from]; to != thing; to = taker_[giver_[to]]) {
      bytes = std::min(bytes, gifts_[gift(giver_[to], to)].bytes);
    }
    left_[from] -= bytes;
    for (std::uint32_t to = taker_[from];; to = taker_[from]) {
      give(from, to, bytes);
      if (to == thing) return bytes;
      from = giver_[to];
      gifts_[gift(from, to)].bytes -= bytes;
    }
  }

  const Lifetimes& lifetimes_;
  std::vector<std::size_t> left_;  // the bytes of each that nothing reuses
  std::vector<Gift> gifts_;
  std::vector<std::uint32_t> gift_;                 // the first of each giver
  std::vector<std::vector<std::uint32_t>> by_end_;  // by stream
  std::vector<OverList> over_;                      // by stream
  std::vector<std::size_t> closed_;                 // by stream: how much of by_end_ leads nowhere
  std::vector<std::uint32_t> taker_, giver_;        // on the paths of the search at hand
  std::vector<std::uint32_t> takers_, givers_;      // that the search at hand has come to
  std::vector<std::size_t> reached_;                // by stream: how far into by_end_ it has come
};

}  // namespace

// What begins later: of each stream, all up to where the thing is over. What begins earlier: all
// but what is over.
std::vector<Overlap> overlaps(const Lifetimes& lifetimes) {
  const std::uint32_t count = lifetimes.size();
  std::vector<Overlap> found(count);
  for (std::uint32_t s = 0; s < lifetimes.streams; ++s) {
    // By number: what begins before it on the stream, and what is over when it begins there.
    std::vector<Overlap> begun(count + 1), over(count + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t bytes = lifetimes.bytes[i];
      const bool here = lifetimes.stream[i] == s;
      begun[i + 1] = {begun[i].bytes + (here ? bytes : 0), begun[i].count + here};
      Overlap& end = over[lifetimes.over[i * lifetimes.streams + s]];
      end.bytes += bytes;
      ++end.count;
    }
    Overlap earlier;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Overlap &first = begun[i + 1], &last = begun[lifetimes.over[i * lifetimes.streams + s]];
      found[i].bytes += last.bytes - first.bytes;
      found[i].count += last.count - first.count;
      earlier.bytes -= over[i].bytes;
      earlier.count -= over[i].count;
      if (lifetimes.stream[i] == s) {
        found[i].bytes += earlier.bytes;
        found[i].count += earlier.count;
      }
      earlier.bytes += lifetimes.bytes[i];
      ++earlier.count;
    }
  }
  return found;
}

std::size_t most_live(const Lifetimes& lifetimes) {
  if (lifetimes.streams != 1) return HandingOn(lifetimes).run();
  // What is live when something begins is live together.
  std::vector<std::size_t> over(lifetimes.size() + 1);
  std::size_t live = 0, most = 0;
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
    over[lifetimes.over[i]] += lifetimes.bytes[i];
    live += lifetimes.bytes[i];
    live -= over[i];
    most = std::max(most, live);
  }
  return most;
}

}  // namespace anabranch
