// Graphs of the form of attention, forward and backward, for row_blocks.
#pragma once

#include <cstdint>

#include "tests/support/shrink.h"

namespace anabranch {

/// Heads, masks, positions, sizes from 0 to 9, in f32, f64, f16 or bf16; softmax, a maximum or
/// plain arithmetic between the products; in one of two the cotangents of all parameters. The same
/// for the same seed.
GraphCase attention_graph(std::uint64_t seed);

/// Behind the parameters of `forward`, a graph of one output, comes the cotangent of that; the
/// output and the cotangents of all parameters.
Graph with_gradients(const Graph& forward);

}  // namespace anabranch
