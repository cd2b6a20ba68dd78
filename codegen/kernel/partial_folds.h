// Folds in parts: a loop in a loop that both fold one thing.
//
//   for k < 26 { for l < 26 { sum r = x[k * 28 + l] }  sum s = r }
//
// Whoever folds the inner loop in parts (lanes, members of a group) can go on with its own part in
// the loop around it, and put the parts together once, at the end.
#pragma once

#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// By first result: whether a fold's results are only folded on by the loop around it, in the same
/// way.
std::vector<bool> partial_folds(const Kernel& kernel);

}  // namespace anabranch
