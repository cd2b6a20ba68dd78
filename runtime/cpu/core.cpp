#include "runtime/cpu/core.h"

#include <sched.h>

#include <chrono>

namespace anabranch::cpu {

int current_core() { return sched_getcpu(); }

// More cores than a cpu_set_t holds make the first call fail; the thread then stays.
void leave_core() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds rest{1};
  thread_local Clock::time_point left{};
  if (Clock::now() - left < rest) return;
  left = Clock::now();
  const int here = current_core();
  cpu_set_t allowed;
  if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace anabranch::cpu
