// outline: what is left to itself after the passes becomes a fusion of one, so that every
// computation reaches lowering in the same form.
//
//   %2: f32[8] = add %0, %1     ->     %2: f32[8] = fusion %0, %1 kind=elementwise graph(...) {...}
#pragma once

#include "ir/graph/graph.h"
#include "passes/pass.h"

namespace anabranch {

/// `graph`, and the regions of its loops and branches, with each op that is not one of these, a
/// parameter, a constant, a reshape or a fusion in a fusion of its own. Returns it unchanged where
/// there is none.
Graph outline(const Graph& graph, PassContext& context);

}  // namespace anabranch
