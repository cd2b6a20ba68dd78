#include "runtime/completion.h"

#include <chrono>
#include <thread>
#include <utility>

#include "runtime/spin.h"

namespace anabranch {
namespace {

// A host thread that waits for longer than this can as well be woken.
constexpr std::chrono::milliseconds helping_time{1};

// Whether it is past, with what it failed of.
bool is_past(const Mark& mark, Failure& error) {
  try {
    return mark.is_past();
  } catch (...) {
    error = std::current_exception();
    return true;
  }
}

}  // namespace

void Completion::when_past(std::shared_ptr<const Mark> mark,
                           std::function<void(const Failure&)> then) {
  std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(mark), std::move(then)});
  if (!std::exchange(has_thread_, true)) std::thread([this] { work(); }).detach();
  added_.notify_one();
}

// Whether any was.
bool Completion::run_past() {
  std::list<std::pair<Waiting, Failure>> past;
  {
    std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      Failure error;
      if (is_past(*it->mark, error)) {
        past.emplace_back(std::move(*it), std::move(error));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (auto& [waiting, error] : past) waiting.then(error);
  return !past.empty();
}

void Completion::help_until(const std::atomic<std::uint32_t>& flag) {
  spin_until(
      [&] {
        if (flag.load(std::memory_order_acquire) != 0) return true;
        run_past();
        return flag.load(std::memory_order_acquire) != 0;
      },
      helping_time);
}

void Completion::work() {
  for (;;) {
    std::shared_ptr<const Mark> oldest;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !waiting_.empty(); });
      oldest = waiting_.front().mark;
    }
    try {
      oldest->wait();
    } catch (...) {
      // `run_past` meets the same error, and tells who waits.
    }
    run_past();
  }
}

}  // namespace anabranch
