// jvp: a graph that computes tangents besides its results (forward-mode derivatives).
//
//   graph f(%0: f32[4]) {              graph f(%0: f32[4], %1: f32[4]) {
//     %1: f32[4] = sine %0               %2: f32[4] = sine %0
//     return %1                  ->      %3: f32[4] = cosine %0
//   }                                    %4: f32[4] = multiply %3, %1
//                                        return %2, %4
//                                      }
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct Jvp {
  /// Its parameters are those of the graph, then a tangent for each that is active; its outputs
  /// those of the graph, then a tangent for each that is active.
  Graph graph;
  std::vector<bool> active;  ///< per output: whether it has a tangent; others' are zero
};

/// `active` says which parameters, of floats or complex numbers, have a tangent. Outputs that are
/// `required` have one even where it is zero. Throws Error for an op that has no derivative, with
/// its line.
///
/// Each op's rule is a row of derivative_rules.cpp. Derivatives of complex functions are as JAX has
/// them: tangents are pushed forward by the same formula, and what is no holomorphic function
/// (`abs`, `real`) is linear over the reals.
Jvp jvp(const Graph& graph, const std::vector<bool>& active,
        const std::vector<bool>& required = {});

/// Whether arrays of the dtype have tangents.
bool has_tangent(Dtype dtype);

}  // namespace anabranch
