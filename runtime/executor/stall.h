// Stalls: functions of the user that wait for the host, while the host waits at an in-flight limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace anabranch {

/// Decides when the in-flight limits give way. A function of the user may wait for something that
/// the host does only once it has submitted more than a limit lets it. So where nothing but such
/// functions has moved for a while, the limits let one more execution through, and one more at
/// each further look. A function may also be slow by itself, and is then no reason to run ahead: a
/// stall that ends while the host waits shows how slow they are, and the next one is given twice
/// that time, up to 5 s.
class Stall {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct State {
    std::uint64_t calls = 0;  ///< how often a function of the user has begun or ended
    bool host_waits = false;  ///< whether a host thread waits at a limit
    bool can_move = false;    ///< whether anything else runs, or could
  };
  /// Whether one more execution is let through at `now`.
  bool look(Time now, const State& state);

 private:
  Time since_{};
  std::uint64_t calls_ = 0;
  bool host_waited_ = false;
  std::chrono::nanoseconds longest_{};  // of stalls that ended by themselves
};

/// What lets the limits of all devices give way by one execution.
void give_way_by(void (*give_way)());

/// While it lives, the calling thread is inside a function of the user.
class InUserCall {
 public:
  InUserCall();
  ~InUserCall();
  InUserCall(const InUserCall&) = delete;
  InUserCall& operator=(const InUserCall&) = delete;
};

/// How many executions and host threads a limit holds up; while there are any, and the user's
/// functions run, a thread looks for stalls.
class HeldUp {
 public:
  static void add(bool is_host);
  static void remove(bool is_host);
};

}  // namespace anabranch
