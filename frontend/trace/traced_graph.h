// TracedGraph: what tracing a function gives.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "anabranch/graph.h"
#include "anabranch/source_location.h"

namespace anabranch {

struct TracedGraph {
  Graph graph;
  std::vector<bool> weak;               ///< per output: made from C++ numbers alone
  std::vector<std::uint32_t> captured;  ///< the constants that are arrays from outside, as nodes
  /// Of a function that has checks and no results: the line of the first one. The graph then has
  /// one output, no result, which they guard.
  std::optional<SourceLocation> only_checks = {};
};

}  // namespace anabranch
