// fuse: groups ops into as few passes over memory as the graph allows; each group becomes one
// kernel, or one library call with its epilogue.
//
//   %2: f32[8] = add %0, %1             %2: f32[8] = fusion %0, %1 kind=elementwise graph(...) {
//   %3: f32[8] = exponential %2    ->     %2: f32[8] = add %0, %1
//   return %3                             %3: f32[8] = exponential %2
//                                         return %3
//                                       }
//                                       return %2
//
// Afterwards only parameters, constants, fusions and reshapes (aliases of what they reshape) remain
// at top level. Every group is one that `plan_fusion` accepts.
#pragma once

#include "passes/fusion/groups.h"
#include "passes/pass.h"

namespace anabranch {

/// `graph` with every computation in a fusion; a note for each pair that stays apart, and why.
Graph fuse(const Graph& graph, PassContext& context);

/// The groups that it makes of a graph without dead nodes.
FusionGroups fusion_groups(const Graph& graph);

}  // namespace anabranch
