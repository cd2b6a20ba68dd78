// Waiting a few microseconds without giving up the core.
#pragma once

#include <chrono>

namespace anabranch {

/// About what it costs to sleep and be woken: as long as that, spinning loses at most as much
/// again.
inline constexpr std::chrono::microseconds wake_up_time{40};

/// Tells the core that this is a waiting loop.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Asks `condition` again and again, for at most `limit`; whether it came true.
template <class Condition>
bool spin_until(Condition condition, std::chrono::nanoseconds limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return condition();
}

}  // namespace anabranch
