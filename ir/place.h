// Places: where in each operand an element of a result comes from, as small numbers that are equal
// where the places are. What `plan_fusion` reasons with.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// A place along one axis of a value, as a number: `unit_place`, 1 + k for domain axis k, or beyond
/// these an opaque place: something computed from others. Equal numbers are equal places.
using Place = int;
inline constexpr Place unit_place = 0;

/// A place in a whole array (one Place per axis), as a number.
using ArrayPlace = int;

/// Hands out the numbers.
class PlaceTable {
 public:
  /// `depth[k]` is how deep in the loops domain axis k runs.
  PlaceTable(const Shape& domain, std::span<const int> depth) {
    places_ = 1 + domain.rank();
    place_depth_.assign(1, -1);
    place_depth_.insert(place_depth_.end(), depth.begin(), depth.end());
  }

  /// The number of the place that `map` (an op and its parameters for this axis) makes of others.
  Place opaque(std::vector<std::int64_t> map, int depth) {
    auto [entry, added] = opaque_.emplace(std::move(map), places_);
    if (added) {
      ++places_;
      place_depth_.push_back(depth);
    }
    return entry->second;
  }

  ArrayPlace index(std::vector<Place> places) {
    auto [entry, added] = indices_.emplace(std::move(places), static_cast<int>(by_index_.size()));
    if (added) by_index_.push_back(&entry->first);
    return entry->second;
  }

  const std::vector<Place>& operator[](ArrayPlace index) const {
    return *by_index_[static_cast<std::size_t>(index)];
  }

  int depth(Place place) const { return place_depth_[static_cast<std::size_t>(place)]; }
  /// The innermost loop that the place depends on; -1 for none.
  int depth_of(ArrayPlace index) const {
    int deepest = -1;
    for (Place place : (*this)[index]) deepest = std::max(deepest, depth(place));
    return deepest;
  }

 private:
  int places_ = 0;
  std::vector<int> place_depth_;
  std::map<std::vector<std::int64_t>, Place> opaque_;
  std::map<std::vector<Place>, ArrayPlace> indices_;
  std::vector<const std::vector<Place>*> by_index_;  // keys of a map stay where they are
};

/// Whether two shapes differ at most by axes of size 1.
bool only_units_differ(const Shape& a, const Shape& b);

/// Where operand `operand` of `node` is read when `node`'s result is asked for at a place.
class OperandPlace {
 public:
  OperandPlace(const Graph& graph, PlaceTable& table) : graph_(graph), table_(table) {}

  ArrayPlace operator()(const Node& node, std::size_t operand, ArrayPlace index);

 private:
  Place place(const Node& node, std::size_t operand, const Shape& shape, int axis, ArrayPlace index,
              const std::vector<Place>& result);
  Place from_start(const Node& node, std::size_t start, Place inner);
  Place along(Op op, std::int64_t a, std::int64_t b, Place inner);
  Place reshaped(const Node& node, const Shape& from, int axis, ArrayPlace index,
                 const std::vector<Place>& result);

  const Graph& graph_;
  PlaceTable& table_;
};

}  // namespace anabranch
