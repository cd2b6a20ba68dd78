// What the functions of anabranch/random.h share.
#pragma once

#include "frontend/ops/term.h"

namespace anabranch::random {

/// Throws Error unless it is a key.
Term checked_key(const char* function, const Operand& key);

/// Throws Error for a dtype that is no float.
void demand_float(const char* function, Dtype dtype, SourceLocation where);

/// A parameter as an array of a shape and a dtype. Throws Error where it does not broadcast there,
/// or is no real number.
Term parameter(const char* function, const Operand& operand, const Shape& shape, Dtype dtype,
               SourceLocation where);

}  // namespace anabranch::random
