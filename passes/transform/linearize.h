// linearize: a graph that is linear in some of its parameters taken apart: what does not depend on
// them, and a linear graph that needs a few results of the former, the residuals.
//
//   graph f(%0: f32[4], %1: f32[4]) {      graph f(%0: f32[4]) {     graph f(%0: f32[4], %1:
//   f32[4]) {
//     %2: f32[4] = sine %0                   %1: f32[4] = sine %0      %2: f32[4] = multiply %1, %0
//     %3: f32[4] = cosine %0           ->    %2: f32[4] = cosine %0    return %2
//     %4: f32[4] = multiply %3, %1           return %1, %2           }
//     return %2, %4                        }
//   }
//
// A loop whose turns are counted stores what the linear part needs of each turn, in stacks. One
// whose number of turns is known when it has run only counts them; its linear part computes the
// rest again. (J. Frostig, M. Johnson, D. Maclaurin, A. Paszke, A. Radul: "Decomposing reverse-mode
// automatic differentiation", 2021.)
#pragma once

#include <vector>

#include "ir/graph/graph.h"
#include "passes/transform/linearized.h"

namespace anabranch {

/// `linear` says in which parameters the graph is linear, all together. Outputs that are `required`
/// belong to the linear graph even where they are known.
Linearized linearize(const Graph& graph, const std::vector<bool>& linear,
                     const std::vector<bool>& required = {});

/// The same of a loop's body. `linear` says it of the operands of the loop, and then of the carries
/// besides that become linear in some turn.
Linearized linearize_turn(const Graph& body, std::vector<bool>& linear);

/// Whether a value is a constant, repeated or not: it is computed again rather than kept.
bool is_free(const Graph& graph, Value value);

}  // namespace anabranch
