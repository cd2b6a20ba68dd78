// Which loops gain by a team: threads that stay with a loop from its first turn to its last
// (runtime/cpu/hot_team.h), each with its own part of every kernel.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel/kernel.h"
#include "ir/program/program.h"

namespace anabranch::cpu {

/// Whether all that a turn does, but for a few instructions, is kernels of which threads can run
/// parts, whatever the length of the turn: with the same part of each array in each kernel, so that
/// they find it in their caches. What one thread did with a whole array would fetch the parts of
/// the others, which fetch them back: `adi`, whose sweeps go along rows and then along columns,
/// takes 1.6 times as long in a team.
bool gains_by_team(const Program& body, std::span<const Kernel> kernels);

/// The fewest iterations of such a kernel that are worth a member of the team.
std::int64_t grain_of_team(const Kernel& kernel);

}  // namespace anabranch::cpu
