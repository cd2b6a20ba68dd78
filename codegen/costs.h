// How long things take on one core of a CPU, from counted bytes and operations.
#pragma once

#include <cstdint>

#include "ir/program/program.h"

namespace anabranch {

/// In ns: the longer of what the bytes and the operations take.
double core_ns(const Cost& cost);

/// Of a step that calls a function of the host: nothing is known of a user's before it has run,
/// and it is not to run on the caller's thread.
double call_ns(const Step& step);

/// Measured on a 2-core Zen 5: going on to the next step of a stream takes 60 ns; an event takes
/// 0.5 us where another worker is looking for work, and up to 10 us where one must be woken.
inline constexpr double core_step_ns = 60;
inline constexpr double core_event_ns = 2500;

/// Of a copy: fewer bytes are not worth a thread of their own.
inline constexpr std::int64_t copy_grain = 1 << 20;

}  // namespace anabranch
