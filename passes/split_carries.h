// split_carries: a carried point becomes its coordinates.
//
//   %1: f32[1000,3] = while %0 ...      %1: f32[1000], %2: f32[1000], %3: f32[1000] = while ...
//                                  ->   %4: f32[1000,3] = concatenate of these, axis=1
//
// So a loop under `vmap` whose examples carry a few elements each can be one kernel, which has them
// in registers (ir/pointwise_loop.h). Scalar replacement of aggregates, for arrays.
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with the carries of loops split into one array per element, in regions too, where that
/// makes the loop pointwise and it is not so already: those of the domain's shape and up to 16
/// elements more on the last axes.
Graph split_carries(const Graph& graph, PassContext& context);

}  // namespace anabranch
