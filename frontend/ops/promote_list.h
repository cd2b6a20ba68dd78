// Bringing a list of operands to one dtype, as promote.h does a few.
#pragma once

#include <vector>

#include "frontend/ops/promote.h"

namespace anabranch {

/// All operands, one or more, as arrays of one dtype, by `promote`'s rules over all of them
/// together. Throws Error, with the remedy, where two of them do not meet.
std::vector<Array> promote_list(const char* function, const std::vector<Operand>& operands,
                                Takes takes);

}  // namespace anabranch
