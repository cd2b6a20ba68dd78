#include "runtime/executor/stall.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "runtime/cpu/thread_pool.h"

namespace anabranch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_looks{10};
constexpr std::chrono::nanoseconds shortest_stall = milliseconds{250};
constexpr std::chrono::nanoseconds longest_stall = milliseconds{5000};

/// What is counted, and the thread that looks. Counts change in one order for all threads: of who
/// adds the last reason to look, one sees the others.
struct Watch {
  std::atomic<std::uint64_t> calls{0};  // begun or ended
  std::atomic<int> in_calls{0};
  std::atomic<int> held_up{0}, hosts{0};
  std::atomic<void (*)()> give_way{nullptr};

  std::mutex mutex;
  bool looks = false;  // whether there is a thread; guarded by `mutex`
  Stall stall;         // of that thread

  bool has_reason() const { return in_calls > 0 && held_up > 0; }
};

// Never destroyed: its thread may outlive every static.
Watch& watch() {
  static Watch* watch = new Watch;
  return *watch;
}

// Whether to continue.
bool look_once() {
  std::this_thread::sleep_for(between_looks);
  Watch& all = watch();
  const Stall::State state{all.calls, all.hosts > 0, !cpu::ThreadPool::only_users_run()};
  {
    std::lock_guard lock(all.mutex);
    if (!all.has_reason()) {
      all.stall.look(Stall::Time::clock::now(), {state.calls, false, true});
      all.looks = false;
      return false;
    }
  }
  if (!all.stall.look(Stall::Time::clock::now(), state)) return true;
  if (const auto give_way = all.give_way.load()) give_way();
  return true;
}

void start_looking() noexcept {
  Watch& all = watch();
  std::lock_guard lock(all.mutex);
  if (all.looks || !all.has_reason()) return;
  try {
    std::thread([] {
      while (look_once()) {
      }
    }).detach();
    all.looks = true;
  } catch (const std::exception&) {
    // There is no further thread: the limits stay as they are.
  }
}

}  // namespace

void give_way_by(void (*give_way)()) { watch().give_way = give_way; }

bool Stall::look(Time now, const State& state) {
  if (state.calls != calls_) {
    if (host_waited_ && state.host_waits) longest_ = std::max(longest_, now - since_);
    since_ = now;
    calls_ = state.calls;
  }
  host_waited_ = state.host_waits;
  if (state.can_move) return false;
  return now - since_ >= std::clamp(2 * longest_, shortest_stall, longest_stall);
}

InUserCall::InUserCall() {
  ++watch().calls;
  ++watch().in_calls;
  cpu::ThreadPool::in_user_call(true);
  if (watch().held_up > 0) start_looking();
}

InUserCall::~InUserCall() {
  cpu::ThreadPool::in_user_call(false);
  --watch().in_calls;
  ++watch().calls;
}

void HeldUp::add(bool is_host) {
  if (is_host) ++watch().hosts;
  ++watch().held_up;
  if (watch().in_calls > 0) start_looking();
}

void HeldUp::remove(bool is_host) {
  --watch().held_up;
  if (is_host) --watch().hosts;
}

}  // namespace anabranch
