// Completion: who hears that a device has come past a mark.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>

#include "runtime/device/engine.h"
#include "runtime/stream/failure.h"

namespace anabranch {

/// The marks of one device that somebody waits for. The marks of a queue are passed in their order,
/// those of several in any: for each queue a thread looks for a moment, then sleeps until the
/// device comes to the first. A host thread that waits looks for itself, which is faster.
/// Thread-safe.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// Calls `then` once `mark` is past, with the device's error if it failed: on a thread of this,
  /// or on one that helps. `then` must not wait and must not throw.
  void when_past(std::shared_ptr<const Mark> mark, std::function<void(const Failure&)> then);

  /// Looks at the marks again and again until `flag` is not 0, or for a while.
  void help_until(const std::atomic<std::uint32_t>& flag);

 private:
  struct Waiting {
    std::shared_ptr<const Mark> mark;
    std::function<void(const Failure&)> then;
  };
  struct Lane {
    std::queue<Waiting> waiting;  // oldest first
    std::condition_variable added;
  };

  void work(Lane& lane);
  void run_past();
  void run_past(Lane& lane);

  std::mutex mutex_;
  std::map<const DeviceQueue*, Lane> lanes_;  // none ever goes
};

}  // namespace anabranch
