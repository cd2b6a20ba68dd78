// How long things take on one core of a CPU, from counted bytes and operations.
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch {

/// In ns: the longer of what the bytes and the operations take.
double core_ns(const Cost& cost);

/// Nothing is known of a user's function before it has run; it is not to run on the caller's
/// thread.
inline constexpr double custom_call_ns = 1e5;

}  // namespace anabranch
