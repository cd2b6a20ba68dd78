// row_blocks: computes large values between dots in blocks of rows that stay in the cache, in a
// loop, instead of writing all of them to memory.
//
//   %3: f32[4096,4096] = dot %0, %1            %6: i64[], %7: f32[4096,64] = while %3, %5, ...
//   graph body(...) { %4: f32[4096,4096] = tanh %3          ->     %7: f32[512,64] = dynamic_slice
//   %2, %6, %0 %5: f32[4096,64] = dot %4, %2                %8: f32[512,4096] = dot %7, ... return
//   %5                                    %9: f32[512,4096] = tanh %8
//                                                %10: f32[512,64] = dot %9, ...
//                                                %11: f32[4096,64] = dynamic_update_slice %1, %10,
//                                                %6, %0
//                                                ...
//
// The axis may be any that all of the nodes treat row by row (row_axes.h): one of queries, of
// heads, of examples. What sums over it, as a gradient of weights does, is added up block by block.
// Attention, its gradients, the distances of k-means and the layers of a network are all of this
// form. Where it pays is said in costs.h.
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph`, and the regions of its loops and branches, with such chains as loops where
/// `context.block_costs` says that they pay.
Graph row_blocks(const Graph& graph, PassContext& context);

}  // namespace anabranch
