// How long things take on one core of a CPU, from counted bytes and operations.
#pragma once

#include <cstdint>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// In ns: the longer of what the bytes and the operations take.
double core_ns(const Cost& cost);

/// Nothing is known of a user's function before it has run; it is not to run on the caller's
/// thread.
inline constexpr double custom_call_ns = 1e5;

/// Measured on a 2-core Zen 5: going on to the next step of a stream takes 60 ns; an event takes
/// 0.5 us where another worker is looking for work, and up to 10 us where one must be woken.
inline constexpr double core_step_ns = 60;
inline constexpr double core_event_ns = 2500;

/// Of a copy: fewer bytes are not worth a thread of their own.
inline constexpr std::int64_t copy_grain = 1 << 20;

}  // namespace anabranch
