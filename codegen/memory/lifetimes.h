// Lifetimes: what of several things may be live at the same time, and how much of it at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anabranch {

/// Things that begin and end somewhere on streams that run side by side. They are numbered so that
/// a thing has a greater number than all that have surely ended when it begins.
struct Lifetimes {
  std::uint32_t streams = 0;
  std::vector<std::size_t> bytes;
  std::vector<std::uint32_t> stream;  ///< where each begins
  /// By thing and stream: of what begins on that stream, all from this number on begin only when
  /// the thing has ended.
  std::vector<std::uint32_t> over;

  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes.size()); }
  bool before(std::uint32_t a, std::uint32_t b) const { return over[a * streams + stream[b]] <= b; }
};

/// What of the other things may be live at the same time as one.
struct Overlap {
  std::size_t bytes = 0;
  std::uint32_t count = 0;
};

/// For each thing.
std::vector<Overlap> overlaps(const Lifetimes& lifetimes);

/// The most bytes of things none of which is surely over before another begins: no packing is
/// smaller, whatever it shares. `before` is a partial order, so this is the weight of its heaviest
/// antichain, which is the least weight of chains that cover everything (Dilworth 1950), and
/// bytes that a later thing reuses make the chains: a maximum flow (Fulkerson,
/// Note on Dilworth's decomposition theorem for partially ordered sets, 1956).
std::size_t most_live(const Lifetimes& lifetimes);

}  // namespace anabranch
