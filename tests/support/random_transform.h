// Graphs transformed, with inputs for what they take besides: of a test's random graph another one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/random_literal.h"
#include "tests/support/shrink.h"

namespace anabranch::testing {

enum class Transform : std::uint8_t {
  gradients,  ///< the outputs, then the gradients by all floats and complex numbers (vjp)
  tangents,   ///< the outputs, then their tangents (jvp)
  batch       ///< mostly 2 or 3 at once (vmap)
};

/// "gradients, batch".
std::string to_string(std::span<const Transform> transforms);

/// One after the other. Cotangents, tangents and the further elements of a batch are random.
/// Nothing where the graph has an op without a derivative, where there is nothing to differentiate
/// by, where it spans devices, or where it or what is made of it has more than so many elements.
std::optional<GraphCase> transformed(GraphCase from, std::span<const Transform> transforms,
                                     Random& random, std::int64_t most_elements);

/// The cotangents or tangents come behind the inputs of `from`. Throws Error where an op has no
/// derivative.
GraphCase with_gradients(const GraphCase& from, Random& random);
GraphCase with_tangents(const GraphCase& from, Random& random);

/// Which parameters are floats or complex numbers.
std::vector<bool> differentiated_parameters(const Graph& graph);
/// A cotangent stays where the result is, so that what a graph moves to a device is not moved back.
bool spans_devices(const GraphCase& tested);
/// Of all values, also of a turn of a loop and of each branch.
std::int64_t elements_of(const Graph& graph);

}  // namespace anabranch::testing
