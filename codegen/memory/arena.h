// Blocks of memory packed into one arena.
#pragma once

#include <cstddef>
#include <vector>

#include "codegen/memory/lifetimes.h"

namespace anabranch {

struct ArenaPacking {
  std::vector<std::size_t> offsets;  ///< of each thing
  std::size_t bytes = 0;
  std::size_t lower_bound = 0;  ///< `most_live`
};

/// Packs things so that two share bytes only where one is over before the other begins. The arena
/// is built from the bottom: of the things that remain, the one that can be lowest goes on top of
/// what it must not share bytes with (so Burke, Kendall and Whitwell pack strips: A New Placement
/// Heuristic for the Orthogonal Stock-Cutting Problem, 2004); little is left empty where much is
/// live. Several orders decide between equals, and once the largest go first, each into the
/// smallest gap (best fit). While the best is more than a hundredth above the lower bound, orders
/// near it are tried, as many as a multiple of the number of things allows; so the time is
/// near-linear in the number of things. The same things always get the same places.
ArenaPacking pack(const Lifetimes& lifetimes);

}  // namespace anabranch
