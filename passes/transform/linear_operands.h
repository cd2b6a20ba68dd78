// Whether an op is linear in some of its operands together.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// Of a node with a transposition: whether its results are linear in the operands of which `active`
/// says so, whatever the others are. What is added to them counts as a part that does not move. Of
/// a loop or a branch, it says what is outside of the regions whose results it gives.
bool is_linear_in(const Node& node, const std::vector<bool>& active);

}  // namespace anabranch
