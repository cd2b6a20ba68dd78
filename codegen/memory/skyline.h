// Skyline: how low each of several things can be in an arena that is built from the bottom up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/memory/lifetimes.h"

namespace anabranch {

/// A k-d tree for each stream, of where things begin and are over. What must not share bytes with a
/// thing is a few boxes of it, and a box whose things all rise to one height is raised at its root
/// (as in Ji's segment tree beats, 2016), so no thing's conflicts are listed.
class Skyline {
 public:
  explicit Skyline(const Lifetimes& lifetimes);  ///< which must outlive this

  /// Packs as `pack` says, in one order: of those that can be lowest, the first of it goes. False,
  /// and offsets for some only, as soon as the top reaches `limit`.
  bool pack(const std::vector<std::uint32_t>& order, std::size_t limit,
            std::vector<std::size_t>& offsets);

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Bounds {
    std::uint32_t least = none, greatest = 0;

    void add(Bounds other);
  };
  /// Of those that are not yet placed.
  struct Node {
    std::size_t low = SIZE_MAX, high = 0;  // how low its things can be
    std::uint32_t first = none;            // of the order, among the lowest
    std::uint32_t first_of_all = none;
    bool level = false;          // all have risen to `low`, which those below do not know yet
    std::uint32_t thing = none;  // of a leaf
    std::uint32_t left = none, right = none;
    Bounds begin;
  };
  /// A thing that is placed, and where it ends.
  struct Placed {
    std::uint32_t thing, stream;
    std::size_t top;
  };

  std::uint32_t build(std::uint32_t* from, std::uint32_t* to, bool by_end);
  void start(std::uint32_t node, const std::vector<std::uint32_t>& rank);
  bool raise(std::uint32_t node, const Placed& placed, std::uint32_t over);
  void settle(Node& node, std::size_t height);
  void gather(Node& node);
  Bounds& over(std::uint32_t node, std::uint32_t stream) {
    return over_[node * lifetimes_.streams + stream];
  }

  const Lifetimes& lifetimes_;
  std::vector<Node> nodes_;
  std::vector<Bounds> over_;          // by node and stream
  std::vector<std::uint32_t> roots_;  // by stream
};

}  // namespace anabranch
