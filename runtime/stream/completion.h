// Completion: what is called once a device has completed an event.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>

#include "anabranch/failure.h"
#include "runtime/device/stream_executor.h"

namespace anabranch {

/// The events of one device that are waited for. Those of a stream complete in their order, those
/// of several in any: for each stream a thread polls for a moment, then sleeps until the device
/// comes to the first. A host thread that waits looks for itself, which is faster. Thread-safe.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// Calls `then` once `event` is complete, with the device's error if it failed: on a thread of
  /// this, or on one that helps. `then` must not wait and must not throw.
  void when_complete(std::shared_ptr<const DeviceEvent> event,
                     std::function<void(const Failure&)> then);

  /// Polls the events until `flag` is not 0, or for a while.
  void help_until(const std::atomic<std::uint32_t>& flag);

 private:
  struct Waiting {
    std::shared_ptr<const DeviceEvent> event;
    std::function<void(const Failure&)> then;
  };
  struct Lane {
    std::queue<Waiting> waiting;  // oldest first
    std::condition_variable added;
  };

  void work(Lane& lane);
  void run_complete();
  void run_complete(Lane& lane);
  std::shared_ptr<const DeviceEvent> oldest(const Lane& lane);

  std::mutex mutex_;
  std::map<const DeviceStream*, Lane> lanes_;  // none ever goes
};

}  // namespace anabranch
