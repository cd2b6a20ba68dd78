#include "runtime/stream/completion.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/fork.h"
#include "runtime/stream/spin.h"

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
  const auto [found, is_new] = lanes_.try_emplace(&mark->queue());
  Lane& lane = found->second;
  lane.waiting.push({std::move(mark), std::move(then)});
  if (is_new) threads_begin();
  if (is_new) std::thread([this, &lane] { work(lane); }).detach();
  lane.added.notify_one();
}

void Completion::run_past(Lane& lane) {
  for (;;) {
    Waiting next;
    Failure error;
    {
      std::lock_guard lock(mutex_);
      if (lane.waiting.empty() || !is_past(*lane.waiting.front().mark, error)) return;
      next = std::move(lane.waiting.front());
      lane.waiting.pop();
    }
    next.then(error);
  }
}

void Completion::run_past() {
  std::vector<Lane*> lanes;
  {
    std::lock_guard lock(mutex_);
    for (auto& [queue, lane] : lanes_) lanes.push_back(&lane);
  }
  for (Lane* lane : lanes) run_past(*lane);
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

void Completion::work(Lane& lane) {
  for (;;) {
    std::shared_ptr<const Mark> oldest;
    {
      std::unique_lock lock(mutex_);
      lane.added.wait(lock, [&] { return !lane.waiting.empty(); });
      oldest = lane.waiting.front().mark;
    }
    try {
      if (!spin_until([&] { return oldest->is_past(); }, wake_up_time)) oldest->wait();
    } catch (...) {
      // `run_past` meets the same error, and tells who waits.
    }
    run_past(lane);
  }
}

}  // namespace anabranch
