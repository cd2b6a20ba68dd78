// sink: lets loops and branches compute what costs more to load.
//
//   %1: f32[] = constant 2
//   %2: f32[1000] = broadcast_in_dim %1 axes=[]
//   %3: f32[1000] = while %0, %2 graph(%0: f32[1000], %1: f32[1000]) {
//     ...
//   } graph(%0: f32[1000], %1: f32[1000]) {
//     %2: f32[1000] = power %0, %1
//     return %2
//   }
//
//   %1: f32[1000] = while %0 graph(%0: f32[1000]) {
//     ...
//   } graph(%0: f32[1000]) {
//     %1: f32[] = constant 2
//     %2: f32[1000] = broadcast_in_dim %1 axes=[]
//     %3: f32[1000] = power %0, %2
//     return %3
//   }
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with what its loops and branches capture computed in them, in regions too, where that
/// costs less than to load it: constants of one value, iotas, broadcasts, and cheap arithmetic of
/// these. What is costly, and what a region needs in memory, stays outside; of a broadcast its
/// operand is captured instead, and of an array that is turned round the array: where that leaves
/// rows alone or backwards, or, with `follows_rows` of the context, where a loop of one kernel
/// (ir/pointwise_loop.h) reads a block of it in each turn and no one else reads it.
Graph sink(const Graph& graph, PassContext& context);

}  // namespace anabranch
