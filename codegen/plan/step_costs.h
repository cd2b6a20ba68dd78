// What each step of a program costs and how long it takes; inner programs are scheduled for that.
#pragma once

#include <span>

#include "anabranch/options.h"
#include "ir/program/program.h"

namespace anabranch {

/// Sets the cost, time and parallelism of all steps, and finishes loops and branches
/// (control_flow.h), again where they are finished already. The kernels are the outermost
/// program's, as their backends' passes left them. Throws Error where the inner programs need more
/// memory than `options` allow.
void set_costs(Program& program, std::span<const Kernel> kernels, const Options& options);

}  // namespace anabranch
