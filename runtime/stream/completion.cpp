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
bool is_complete(const DeviceEvent& event, Failure& error) {
  try {
    return event.is_complete();
  } catch (...) {
    error = std::current_exception();
    return true;
  }
}

// Seldom: each question keeps the driver from who submits more, and a host thread that waits asks
// by itself. Whether it is complete.
bool poll(const DeviceEvent& event) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds between{5};
  const Clock::time_point end = Clock::now() + wake_up_time;
  for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
    if (event.is_complete()) return true;
    while (Clock::now() - now < between) pause();
  }
  return event.is_complete();
}

}  // namespace

void Completion::when_complete(std::shared_ptr<const DeviceEvent> event,
                               std::function<void(const Failure&)> then) {
  std::lock_guard lock(mutex_);
  const auto [found, is_new] = lanes_.try_emplace(&event->stream());
  Lane& lane = found->second;
  lane.waiting.push({std::move(event), std::move(then)});
  if (is_new) threads_begin();
  if (is_new) std::thread([this, &lane] { work(lane); }).detach();
  lane.added.notify_one();
}

std::shared_ptr<const DeviceEvent> Completion::oldest(const Lane& lane) {
  std::lock_guard lock(mutex_);
  return lane.waiting.empty() ? nullptr : lane.waiting.front().event;
}

// The device is asked without the lock: who submits more needs it.
void Completion::run_complete(Lane& lane) {
  while (const std::shared_ptr<const DeviceEvent> event = oldest(lane)) {
    Failure error;
    if (!is_complete(*event, error)) return;
    Waiting next;
    {
      std::lock_guard lock(mutex_);
      if (lane.waiting.empty() || lane.waiting.front().event != event) continue;  // another thread
      next = std::move(lane.waiting.front());
      lane.waiting.pop();
    }
    next.then(error);
  }
}

void Completion::run_complete() {
  std::vector<Lane*> lanes;
  {
    std::lock_guard lock(mutex_);
    for (auto& [stream, lane] : lanes_) lanes.push_back(&lane);
  }
  for (Lane* lane : lanes) run_complete(*lane);
}

void Completion::help_until(const std::atomic<std::uint32_t>& flag) {
  spin_until(
      [&] {
        if (flag.load(std::memory_order_acquire) != 0) return true;
        run_complete();
        return flag.load(std::memory_order_acquire) != 0;
      },
      helping_time);
}

void Completion::work(Lane& lane) {
  for (;;) {
    std::shared_ptr<const DeviceEvent> event;
    {
      std::unique_lock lock(mutex_);
      lane.added.wait(lock, [&] { return !lane.waiting.empty(); });
      event = lane.waiting.front().event;
    }
    try {
      if (!poll(*event)) event->wait();
    } catch (...) {
      // `run_complete` meets the same error, and passes it on.
    }
    run_complete(lane);
  }
}

}  // namespace anabranch
