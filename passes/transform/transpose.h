// transpose: the cotangents of a linear graph's parameters from those of its outputs
// (reverse-mode derivatives).
//
//   graph f(%0: f32[4], %1: f32[4]) {           graph f(%0: f32[4], %1: f32[]) {
//     %2: f32[4] = multiply %0, %1                %2: f32[4] = broadcast_in_dim %1
//     %3: f32[] = reduce_sum %2 axes=[0]    ->    %3: f32[4] = multiply %2, %0
//     return %3                                   return %3
//   }                                           }
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// What the transpose of a graph is asked for.
struct Transposition {
  std::vector<bool> linear;   ///< per parameter: the graph is linear in these, all together
  std::vector<bool> outputs;  ///< per output: whether it has a cotangent; others' are zero
  /// Per parameter, or empty: whether the sum of its cotangents begins with a value that is given,
  /// to be updated in place.
  std::vector<bool> begun = {};
};

/// Parameters: the known ones, the cotangents of the outputs that have one, then the sums that are
/// begun. Outputs: a cotangent per linear parameter, zeros where it has no part in an output.
///
/// Each linear op's rule is a row of derivative_rules.cpp. The pairing is the bilinear one, sum of
/// c t without a conjugate, of which the real part counts: for complex numbers the cotangent of a
/// real function is the conjugate of what PyTorch calls its gradient, as in JAX.
Graph transpose(const Graph& graph, const Transposition& what);

}  // namespace anabranch
