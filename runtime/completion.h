// Completion: who hears that a device has come past a mark.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "runtime/engine.h"
#include "runtime/failure.h"

namespace anabranch {

/// The marks of one device that somebody waits for. A thread of its own sleeps until the device
/// comes to them; a host thread that waits looks for itself, which is faster. Thread-safe.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// Calls `then` once `mark` is past, with the device's error if it failed: on the thread of this,
  /// or on one that helps. `then` must not wait and must not throw.
  void when_past(std::shared_ptr<const Mark> mark, std::function<void(const Failure&)> then);

  /// Looks at the marks again and again until `flag` is not 0, or for a while.
  void help_until(const std::atomic<std::uint32_t>& flag);

 private:
  struct Waiting {
    std::shared_ptr<const Mark> mark;
    std::function<void(const Failure&)> then;
  };

  void work();
  bool run_past();

  std::mutex mutex_;
  std::condition_variable added_;
  std::list<Waiting> waiting_;  // oldest first
  bool has_thread_ = false;
};

}  // namespace anabranch
