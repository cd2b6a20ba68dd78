// cse: computes equal things once. Building a graph already shares equal nodes; this also sees
// through the order of operands.
//
//   %2: f32[8] = add %0, %1
//   %3: f32[8] = add %1, %0               %2: f32[8] = add %0, %1
//   %4: f32[8] = multiply %2, %3    ->    %3: f32[8] = multiply %2, %2
//   return %4                             return %3
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with equal nodes shared, in regions too; operands of commutative ops and of comparisons
/// are put in the order of the graph, constants last.
Graph cse(const Graph& graph, PassContext& context);

}  // namespace anabranch
