#include "anabranch/future.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"

namespace anabranch::detail {

struct Occurrence::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool happened = false;  // guarded by mutex
};

Occurrence::Occurrence() : state_(std::make_unique<State>()) {}
Occurrence::~Occurrence() = default;

void Occurrence::happen() {
  std::lock_guard lock(state_->mutex);
  state_->happened = true;
  state_->changed.notify_all();
}

// On the core that a custom call runs on, it may be what waits for that core.
void Occurrence::check_may_wait() const {
  if (!cpu::ThreadPool::on_worker() || has_happened()) return;
  throw Error(
      "future: waited for inside a custom call, and its value is not there yet; make the array an "
      "operand of the call, or wait before it");
}

bool Occurrence::has_happened() const {
  std::lock_guard lock(state_->mutex);
  return state_->happened;
}

void Occurrence::wait() const {
  check_may_wait();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->happened; });
}

bool Occurrence::wait_for(double seconds) const {
  if (!(seconds > 0)) return has_happened();
  check_may_wait();
  constexpr double most = 1e9;  // 30 years: more than that could overflow the clock
  const std::chrono::duration<double> duration(seconds < most ? seconds : most);
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock,
                                  std::chrono::duration_cast<std::chrono::nanoseconds>(duration),
                                  [this] { return state_->happened; });
}

Failure broken_promise() {
  try {
    throw Error("future: what would have made the value went before it did");
  } catch (...) {
    return Failure(std::current_exception());
  }
}

void refuse_empty_future() {
  throw Error("future: it holds no value: it was made empty, or its value was taken before");
}

}  // namespace anabranch::detail
