// Chains: launches that follow one another, found as the fewest paths that cover the dependency
// graph.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/dependencies.h"

namespace anabranch {

/// Launches in the order of the program; each but the first depends on the one before it.
using Chain = std::vector<std::uint32_t>;

/// Covers all launches with chains that share none, so that two launches are on one chain only
/// where that costs no concurrency: a maximum matching of the reduced graph's edges (Hopcroft and
/// Karp 1973), whose matched edges make the chains (Nimble, NeurIPS 2020, section 4.2); then chains
/// that follow one another wholly are joined.
std::vector<Chain> find_chains(const Dependencies& dependencies);

}  // namespace anabranch
