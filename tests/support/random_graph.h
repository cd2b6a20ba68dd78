// Random graphs over every op and dtype, with inputs: the same for the same seed, on every machine.
#pragma once

#include <cstdint>

#include "tests/support/shrink.h"

namespace anabranch {

/// Those that a random graph spans: one, or so many (`Device::cpu(0)` and those after it).
inline constexpr int random_graph_devices = 3;

/// Up to 40 nodes, ranks 0 to 5, sizes of {0,1,2,3,7,8,9,31,32,33,127,128,129}, up to 20,000
/// elements a value, several outputs. Single ops of all kinds are mixed with the shapes that fusion
/// is for: softmax, layernorm, several reductions over one input, broadcasts back, dot with bias
/// and activation, chains of index maps. A fifth of them may span devices. Inputs hold ordinary
/// numbers, special ones (0, -0, infinity, NaN, extremes, ties), or any bits. Values of which error
/// analysis (error_bounds.h) says little are not built upon.
GraphCase random_graph(std::uint64_t seed);

}  // namespace anabranch
