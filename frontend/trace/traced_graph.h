// TracedGraph: what tracing a function gives.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/graph.h"

namespace anabranch {

struct TracedGraph {
  Graph graph;
  std::vector<bool> weak;               ///< per output: made from C++ numbers alone
  std::vector<std::uint32_t> captured;  ///< the constants that are arrays from outside, as nodes
};

}  // namespace anabranch
