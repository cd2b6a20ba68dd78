// What depends on tangents, and whether it is linear in them.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// Per node: whether it depends on a parameter that is linear.
std::vector<bool> linear_nodes(const Graph& graph, const std::vector<bool>& linear);

/// Throws Error, of the rule of a custom_jvp, as our own are, unless the node's results are linear
/// in the operands that are `active`, whatever the others are. Of a loop whose carries are active
/// where they become it, and of a branch, it asks what says how they go, and not their regions.
void check_linear(const Node& node, const std::vector<bool>& active);

}  // namespace anabranch
