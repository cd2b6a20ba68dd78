// Loops of every kind in graphs that are being built, or the same unrolled.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/builder.h"

namespace anabranch::testing {

using Values = std::vector<Value>;

/// What says how often a loop runs.
enum class Turns : std::uint8_t {
  counted,  ///< a constant
  bound,    ///< an input
  until,    ///< a carried number that reaches 0
  unrolled  ///< there is no loop
};

struct Repeated {
  Turns turns = Turns::counted;
  std::int64_t count = 0;
  std::optional<std::int64_t> kept_states = {};
};

/// The next carries.
using Turn = std::function<Values(GraphBuilder& graph, Value number, const Values& carries,
                                  const Values& captures)>;

/// The carries after the loop. `bound` is its number of turns, as an input.
Values looped(GraphBuilder& graph, Repeated loop, Value bound, Values carries,
              const Values& captures, const Turn& turn);

inline Value scalar(GraphBuilder& graph, std::int64_t x) {
  return graph.constant(Literal::scalar(x));
}

/// Of programs whose parameters are x, y, z, w (f64[3]), m (f64[4,3]), and the numbers of turns of
/// an outer and an inner loop.
std::vector<Literal> inputs_of_loops(const Graph& graph, std::int64_t outer, std::int64_t inner);
/// Whether the tangents and the cotangents of a program are those of its unrolled form; failures
/// are gtest's.
void expect_as_unrolled(const Graph& graph, const Graph& unrolled,
                        const std::vector<Literal>& inputs, const std::string& what);
/// Row `number` modulo 4 of m.
Value row_of(GraphBuilder& graph, Value table, Value number);

}  // namespace anabranch::testing
