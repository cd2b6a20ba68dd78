// simplify_control_flow: takes the branches that are decided, drops the loops that never run, and
// hands what a loop does not change in from outside.
//
//   %2: i32[] = constant 1
//   %3: f32[8] = case %2, %0 graph(%0: f32[8]) {
//     return %0
//   } graph(%0: f32[8]) {
//     %1: f32[8] = tanh %0            ->    %1: f32[8] = tanh %0
//     return %1                             return %1
//   }
//   return %3
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with such loops and branches changed, in regions too:
///
/// - a `case` whose index is constant, or whose branches are all equal, becomes that branch;
/// - a `while` whose condition fails for its first values becomes these;
/// - a carried value that its body hands on unchanged becomes a captured one;
/// - operands given twice are given once, and scalars that are constants move into the regions.
Graph simplify_control_flow(const Graph& graph, PassContext& context);

}  // namespace anabranch
