// Graph to Graphviz DOT, for pictures.
#pragma once

#include <string>

#include "ir/graph/graph.h"

namespace anabranch {

/// A digraph: a box per node (op, type, source line), fusions as clusters.
std::string to_dot(const Graph& graph);

}  // namespace anabranch
