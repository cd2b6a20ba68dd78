// Random graphs over every op and dtype, with inputs: the same for the same seed, on every machine.
#pragma once

#include <cstdint>

#include "tests/support/shrink.h"

namespace anabranch {

/// Those that a random graph spans: one, or so many (`Device::cpu(0)` and those after it).
inline constexpr int random_graph_devices = 3;
/// The seeds that the suite runs: 0 to one less.
inline constexpr std::uint64_t random_graph_seeds = 5'000;

/// Mostly up to 16 nodes, some 40, a few 300; ranks 0 to 8, sizes around the widths of vectors, up
/// to 20,000 elements a value (4,000,000 where a graph is about a long axis), several outputs. All
/// that ops take is drawn: every dtype, every attribute to its ends. Recipes (random_recipes.h) mix
/// single ops with trees that rules match and with the shapes that fusion is for. A fifth of the
/// graphs may span devices. Inputs hold ordinary numbers, special ones (0, -0, infinity, NaN,
/// extremes, ties), numbers of every magnitude, or any bits. Values of which error analysis
/// (error_bounds.h) says little are not built upon.
GraphCase random_graph(std::uint64_t seed);

}  // namespace anabranch
