// Chains: steps of which each depends on the one before it, as few as cost no further wait.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/dependencies.h"

namespace anabranch {

/// Steps in the order of the program; each but the first depends on the one before it.
using Chain = std::vector<std::uint32_t>;

/// Chains that cover every step once, to be given a stream each. Of all layouts in which steps
/// share a stream only where one depends on the other, it takes one
///  1. with the fewest waits: those of the most edges of the reduced graph of which no two begin or
///     end in the same step, a maximum matching (Hopcroft and Karp 1973), are saved (Nimble,
///     NeurIPS 2020, theorem 4);
///  2. of these, with the fewest events: steps with a single follower are matched first;
///  3. of these, with the fewest streams: a chain may continue with any step that depends on its
///     last, and the matching grows by such edges as far as 1 and 2 allow. That is nearly always
///     to the width of the order, the most steps that can run at once (Dilworth 1950, Fulkerson
///     1956); where it is not, fewer streams would take more waits.
std::vector<Chain> find_chains(const Dependencies& dependencies);

}  // namespace anabranch
