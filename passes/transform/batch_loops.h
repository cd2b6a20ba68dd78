// batch_loops: a loop whose turns know nothing of each other becomes one kernel of all of them.
//
//   %2: f32[100] = while 0, %1, %0 ...           # %0: f32[5000]
//     y[i] = reduce_sum(power %0, i)
//
//   %2: f32[100] = fusion %0 kind=reduction graph(%0: f32[5000]) {
//     %1: f32[100] = iota axis=0
//     %2: f32[100,5000] = broadcast_in_dim %0 axes=[1]
//     %3: f32[100,5000] = broadcast_in_dim %1 axes=[0]
//     %4: f32[100,5000] = power %2, %3
//     %5: f32[100] = reduce_sum %4 axes=[1]
//     return %5
//   }
//
// So a kernel has many turns to share among threads and lanes, and reads an array once for several
// of them.
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph`, in regions too, without the loops that count their turns, carry nothing but the count
/// and arrays of which each turn writes its own row, and are one elementwise kernel or one of
/// reductions where all turns are computed at once (passes/transform/batch.h). No array is made
/// that the loop did not make. One inside another is a kernel with it, or by itself.
Graph batch_loops(const Graph& graph, PassContext& context);

}  // namespace anabranch
