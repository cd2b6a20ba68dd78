// From a failing graph to a small one that still fails.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/literal.h"
#include "passes/placement.h"

namespace anabranch {

struct GraphCase {
  Graph graph;
  std::vector<Literal> inputs;
  ParameterDevices parameters = {};  ///< where the inputs are; empty: all where it is compiled for
};

/// Where each node runs, by what the case says of its inputs; nothing where any device will do.
ParameterDevices devices_of(const GraphCase& whole);

/// Leaves out outputs, then what comes after the first wrong node, then what comes before it (a cut
/// node becomes an input with the value that the interpreter gives it), as long as `fails` holds.
GraphCase shrink(GraphCase failing, const std::function<bool(const GraphCase&)>& fails);

}  // namespace anabranch
