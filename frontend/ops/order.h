// What sorts and windows share: the order that sorts go by, and several arrays of one shape.
#pragma once

#include <vector>

#include "frontend/ops/term.h"

namespace anabranch {

/// Whether x comes before y in ascending order: NaN comes behind all else.
Term comes_before(const Term& x, const Term& y);

/// The operands as arrays. Throws Error unless they have one shape.
std::vector<Array> arrays_of_one_shape(const char* function, const Operands& operands);

}  // namespace anabranch
