// The order of a program's steps that keeps the fewest bytes live, for where memory is limited.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/dependencies.h"
#include "ir/program/program.h"

namespace anabranch {

/// All steps, each after what it depends on. Of those that could come next it takes the one
/// after which the fewest bytes of temporaries are live, the earliest in the program of equals:
/// greedy, for the best order is NP-hard to find (Sethi, Complete Register Allocation Problems,
/// 1975).
std::vector<std::uint32_t> minimum_memory_order(const Program& program,
                                                const Dependencies& dependencies);

}  // namespace anabranch
