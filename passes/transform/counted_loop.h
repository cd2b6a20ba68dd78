// A loop that counts its turns: what tells how often a `while` runs before it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/graph.h"

namespace anabranch {

/// `while counter < bound`, where each turn adds one to the counter.
struct CountedLoop {
  std::uint32_t counter = 0;           ///< which carried value it is
  std::optional<std::uint32_t> bound;  ///< the operand that is the bound, where it is one
  std::optional<std::int64_t> constant_bound;
};

/// Of a `while`; nothing where it is no such loop.
std::optional<CountedLoop> counted_loop(const Node& loop);

/// How often a counted loop runs, where its counter begins at `first`; nothing where the bound is
/// an operand.
std::optional<std::int64_t> trip_count(const CountedLoop& loop, std::int64_t first);

/// The one number that an integer scalar of a graph is, where that is known.
std::optional<std::int64_t> integer_of(const Graph& graph, Value value);
std::optional<std::int64_t> integer_of(const Node& node);

}  // namespace anabranch
