// The promises that every stage relies on, checked.
#pragma once

#include "ir/graph/graph.h"

namespace anabranch {

/// Throws InternalError, with the graph's text, unless: parameters come first, inputs come before
/// their uses, result types are what `infer` gives, regions verify, outputs exist.
void verify(const Graph& graph);

}  // namespace anabranch
