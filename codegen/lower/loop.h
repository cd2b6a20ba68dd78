// Lowering of pointwise loops (ir/pointwise_loop.h).
//
//   for each place
//     for each turn, by what is carried: compute what comes next, store blocks of stacks
//     store what is carried in the end
#pragma once

#include <string>

#include "codegen/lower/lowered.h"
#include "ir/fusion_plan.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// `region` is a `whole_loop`, and `plan` its own.
Lowered lower_loop(const Graph& region, FusionPlan plan, const std::string& name);

}  // namespace anabranch
