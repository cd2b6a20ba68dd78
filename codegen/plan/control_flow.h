// Loops and branches: how they run, where their carries are, and what that takes.
#pragma once

#include <span>

#include "anabranch/options.h"
#include "ir/program/program.h"

namespace anabranch {

/// Finishes `flow`, a loop or a branch of `program` with its operands and results as buffers, whose
/// regions have costs: schedules the regions, decides whether one task runs all of it, gives it the
/// places and the workspace that it needs, and its cost. Which carries of a loop are updated in
/// place, and which go by turns, follows from the schedule of the body. `options` are those inside.
void finish_flow(Program& program, Step& flow, std::span<const Kernel> kernels,
                 const Options& options);

/// Takes back what `finish_flow` has added to the loops and branches of a program, but not to those
/// inside of its regions, and the places in memory of a program that had any: so that a program may
/// be finished again.
void unfinish_flows(Program& program);

}  // namespace anabranch
