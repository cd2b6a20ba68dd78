// Comparators of `sort` that compare keys.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// What the order goes by: a value of the comparator's graph that depends on the first place's
/// elements alone. Equal keys leave it to the next.
struct SortKey {
  Value value;
  bool descending = false;
};

/// The keys of a comparator of `arrays` arrays, the most significant first; nothing where it is
/// another. Parameters 2k and 2k + 1 are array k's elements.
///
///   compare LT f(first), f(second)                                   f, and its likes for other
///   directions or(LT(x), and(EQ(x), rest)), select(EQ(x), rest, LT(x))        x, then those of
///   rest
std::optional<std::vector<SortKey>> keys_of(const Graph& comparator, std::size_t arrays);

}  // namespace anabranch
