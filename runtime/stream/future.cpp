#include "anabranch/future.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "anabranch/error.h"

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

bool Occurrence::has_happened() const {
  std::lock_guard lock(state_->mutex);
  return state_->happened;
}

void Occurrence::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->happened; });
}

bool Occurrence::wait_for(double seconds) const {
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
