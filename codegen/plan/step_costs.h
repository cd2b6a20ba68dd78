// What each step of a program costs and how long it takes; inner programs are scheduled for that.
#pragma once

#include "codegen/options.h"
#include "ir/program/program.h"

namespace anabranch {

/// Adds the steps that backends want before others, sets the cost, time and parallelism of all, and
/// finishes loops and branches (control_flow.h). The kernels are as their backends' passes left
/// them. Throws Error where the inner programs need more memory than `options` allow.
void set_costs(Program& program, const Options& options);

}  // namespace anabranch
