// One computation as loops and branches, and unrolled: its turns one after the other, its branches
// chosen while it is built.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/graph/builder.h"

namespace anabranch::testing {

/// How a graph has its loops.
enum class Turns : std::uint8_t {
  unrolled,
  counted,    ///< their number is a constant
  uncounted,  ///< their number is a value
};

/// An i64 that an unrolled graph knows while it is built.
struct Count {
  Value value;
  std::int64_t number = 0;
};

/// What a turn gives, from the number of the turn, the carries, and the captures.
using Turn = std::function<std::vector<Value>(
    GraphBuilder&, Count number, std::span<const Value> carries, std::span<const Value> captures)>;

/// `count` turns: the carries at the end. The body sees `captures` alone, `count` is no part of it.
std::vector<Value> repeat(GraphBuilder& graph, Turns how, Count count, std::vector<Value> carries,
                          std::vector<Value> captures, const Turn& turn);

using Branch = std::function<std::vector<Value>(GraphBuilder&, std::span<const Value> operands)>;

/// What branch `which` gives; `unrolled` knows which one that is. Branches give arrays of the same
/// types.
std::vector<Value> choose(GraphBuilder& graph, Turns how, Count which,
                          const std::vector<Value>& operands, const std::vector<Branch>& branches);

}  // namespace anabranch::testing
