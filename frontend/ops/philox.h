// Philox by operations on integers, for where there is no op of random bits.
#pragma once

#include "anabranch/operand.h"

namespace anabranch {

/// What `random_bits` gives for keys and counters, u64 of one shape.
Array philox_word(const Operand& key, const Operand& counter);

}  // namespace anabranch
