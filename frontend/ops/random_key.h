// What the functions of anabranch/random.h share.
#pragma once

#include "frontend/ops/term.h"

namespace anabranch::random {

/// Throws Error unless it is a key.
Term checked_key(const char* function, const Operand& key);

}  // namespace anabranch::random
