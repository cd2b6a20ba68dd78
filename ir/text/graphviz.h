// Graphs to Graphviz DOT, for pictures; programs have theirs in ir/program/program.h.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph/graph.h"

namespace anabranch {

/// A digraph: a box per node (op, type, source line), fusions as clusters.
std::string to_dot(const Graph& graph);

/// For a quoted string of DOT: a backslash before each backslash and each quote.
std::string escaped(std::string_view text);

}  // namespace anabranch
