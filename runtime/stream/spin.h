// Waiting a few microseconds without giving up the core.
#pragma once

#include <chrono>
#include <thread>

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

/// Asks `condition` again and again, for at most `limit`; whether it came true. After a
/// microsecond the core is offered to other threads in between: what is waited for may need it.
template <class Condition>
bool spin_until(Condition condition, std::chrono::nanoseconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds alone{1};
  const Clock::time_point begin = Clock::now();
  for (Clock::duration spent{}; spent < limit; spent = Clock::now() - begin) {
    if (spent > alone) std::this_thread::yield();
    for (int i = 0; i < 8; ++i) {
      if (condition()) return true;
      pause();
    }
  }
  return condition();
}

}  // namespace anabranch
