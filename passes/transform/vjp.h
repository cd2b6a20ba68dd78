// vjp: a graph taken apart into what computes its outputs, and what pulls cotangents back to its
// parameters; linear_part: the same with tangents that are pushed forward.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct ForwardAndLinear {
  Graph forward;  ///< the parameters; the outputs, then the residuals
  /// The residuals, then the tangents of the active parameters; a tangent per active output. Of a
  /// vjp its transpose: the residuals, then a cotangent per active output; a cotangent per active
  /// parameter.
  Graph linear;
  std::vector<bool> active;  ///< per output: whether it depends on an active parameter
};

/// `active` says which parameters are differentiated by. Throws Error as `jvp` does.
ForwardAndLinear linear_part(const Graph& graph, const std::vector<bool>& active);
/// `asked` says which outputs have a cotangent, all where it is empty; others are not active.
ForwardAndLinear vjp(const Graph& graph, const std::vector<bool>& active,
                     const std::vector<bool>& asked = {});

}  // namespace anabranch
