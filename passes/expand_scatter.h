// A scatter of one window: a dynamic_update_slice, which the kernel that computes the updates can
// store.
//
//   %2: f32[8] = scatter %0, %1, 1.0    ->    dynamic_update_slice %0, select(inside, 1.0, there),
//   %1
#pragma once

#include <vector>

#include "passes/rewrite.h"

namespace anabranch {

/// The rule for scatters of one vector whose window has one element on each axis that the vector
/// gives a place on, or a place that is known to hold it. Of a window outside of the array nothing
/// is written, as the op has it.
std::vector<Rule> scatter_rules();

}  // namespace anabranch
