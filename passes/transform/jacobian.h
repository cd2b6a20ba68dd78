// jacobian: a graph's derivative as arrays, all rows at once: a batch of transposes, or of
// tangents.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

enum class JacobianMode : std::uint8_t {
  reverse,  ///< a cotangent per element of an output: for few results of many arguments
  forward,  ///< a tangent per element of a parameter: for many results of few arguments
};

/// Per output, per active parameter: an array of the output's shape, then the parameter's. The
/// outputs are floats or complex numbers. Throws Error as `jvp` does.
Graph jacobian(const Graph& graph, const std::vector<bool>& active, JacobianMode mode);

}  // namespace anabranch
