// A loop that counts its turns: what tells how often a `while` runs before it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/integer_constant.h"

namespace anabranch {

/// `while counter < bound`, where each turn adds one to the counter.
struct CountedLoop {
  std::uint32_t counter = 0;           ///< which carried value it is
  std::optional<std::uint32_t> bound;  ///< the operand that is the bound, where it is one
  std::optional<std::int64_t> constant_bound;
};

/// The value that checks guard; itself where it is no result of one.
Value unguarded(const Graph& graph, Value value);

/// Of a `while`; nothing where it is no such loop.
std::optional<CountedLoop> counted_loop(const Node& loop);

/// Per carried value of a `while`: whether it is an array of which each turn writes a block, and
/// which nothing else in the body looks at.
std::vector<char> written_in_blocks(const Node& loop);

/// A loop whose turns are known when it is traced.
struct KnownTurns {
  std::uint32_t counter = 0;  ///< which carried value it is
  std::int64_t first = 0;     ///< where that begins
  std::int64_t count = 0;     ///< above 0
};
/// Of a `while` of `graph`; nothing where it is no such loop, or takes no turn.
std::optional<KnownTurns> known_turns(const Graph& graph, const Node& loop);

}  // namespace anabranch
