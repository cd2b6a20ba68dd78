// A pointwise loop (ir/pointwise_loop.h) as a fusion of its own.
//
//   %2: i64[] = constant 0                  %4: f32[8] = fusion %0 kind=loop graph(%0: f32[8]) {
//   %3: i64[], %4: f32[8] = while %2, %0      %1: i64[] = constant 0
//       graph cond(...) {...}          ->     %2: i64[], %3: f32[8] = while %1, %0 ...
//       graph body(...) {...}                 return %3
//                                           }
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct FusedLoop {
  /// The result of a loop that counts which the fusion has not.
  struct Counter {
    std::uint32_t result = 0;
    Literal last;  ///< what it is in the end
  };

  Node fusion;                         ///< its inputs are values of the loop's graph
  std::vector<std::uint32_t> results;  ///< which of the loop's results it has
  std::optional<Counter> counter;
};

/// `loop`, a `while` of `graph`, as a fusion that has those results that are read; or in words why
/// it is none. What it begins with is computed inside where that loads no array beyond those that
/// the loop reads; an array of which it stores every element begins with nothing.
std::variant<FusedLoop, std::string> fused_loop(const Graph& graph, const Node& loop,
                                                std::span<const char> is_read);

}  // namespace anabranch
