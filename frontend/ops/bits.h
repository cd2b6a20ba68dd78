// Bits of elements as StableHLO counts them.
#pragma once

#include "anabranch/operand.h"

namespace anabranch {

/// As `bitcast`, but a bool is one bit: bool[..., 8] are those of u8[...], the lowest first.
Array bitcast_convert(const Operand& x, Dtype dtype);

}  // namespace anabranch
