// Chains: launches that follow one another, found as the fewest paths that cover the dependency
// graph.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/dependencies.h"

namespace anabranch {

/// Launches in the order of the program; each but the first depends on the one before it.
using Chain = std::vector<std::uint32_t>;

/// The fewest chains, of edges of the reduced graph, that cover every launch once: a maximum
/// matching of those edges (Hopcroft and Karp 1973), whose matched edges make the chains. With a
/// stream per chain, two launches share one only where one depends on the other, and no other
/// streams of which that is true need fewer waits (Nimble, NeurIPS 2020, theorem 4) or, since
/// launches with a single follower are matched first, fewer events.
std::vector<Chain> cover_with_chains(const Dependencies& dependencies);

/// The same, where chains that follow one another wholly are joined: that takes fewer streams, and
/// neither concurrency nor more waits.
std::vector<Chain> find_chains(const Dependencies& dependencies);

}  // namespace anabranch
