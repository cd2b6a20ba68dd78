// What a device that works by itself shows the rest of the runtime: queues of work, marks in them,
// and memory in their order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace anabranch {

class DeviceQueue;

/// What a device knows the condition of a captured loop or branch by.
using Condition = std::uint64_t;
/// Puts on a queue what sets a condition: for a loop, whether it goes on; for a branch, its number.
using SetCondition = std::function<void(Condition condition, DeviceQueue& queue)>;

/// A point in a queue: it is past once all that was put there before it is done. Thread-safe.
class Mark {
 public:
  virtual ~Mark() = default;
  /// Never waits. Throws Error where the device has failed; it is past then.
  virtual bool is_past() const = 0;
  /// Sleeps until it is past. Throws Error where the device has failed.
  virtual void wait() const = 0;
  /// Which comes to its marks in the order in which they were put there.
  virtual const DeviceQueue& queue() const = 0;
};

/// A point in a queue that remembers when it was passed. Thread-safe.
class TimeMark {
 public:
  virtual ~TimeMark() = default;
  /// On the host's clock, to some microseconds; the time between two of one queue is the device's
  /// own, to half a microsecond. It must be past. Throws Error where the device has failed.
  virtual std::chrono::steady_clock::time_point time() const = 0;
};

/// Work that a device does in order, at some time after it was put there. All of it throws Error
/// where the device has failed. Nothing here waits for the device, unless the device refuses what
/// would keep the order: then the host waits in its place before it throws, so that what comes
/// next, memory that is freed among it, comes later all the same. Thread-safe, but what several
/// threads put on one queue comes in any order.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  /// Between any two of this device's memory and page-locked memory of the host.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// What comes after it runs once `mark`, of any queue of the same kind of device, is past; and if
  /// this throws, `mark` is past.
  virtual void wait(const Mark& mark) = 0;
  /// If this throws, all that was put here is done.
  virtual std::shared_ptr<const Mark> mark() = 0;
  virtual std::shared_ptr<const TimeMark> time_mark() = 0;
  /// On a queue for capture: what `body` puts on `inside`, a queue of the next set that nothing is
  /// captured on, is done for as long as the condition holds, without the host. `set` is called
  /// for this queue and, at the end of the body, for `inside`.
  virtual void put_loop(DeviceQueue& inside, const SetCondition& set,
                        const std::function<void()>& body) = 0;
  /// The same for one of `count` branches: that of the number that `set` sets, if there is one.
  virtual void put_branches(DeviceQueue& inside, std::size_t count, const SetCondition& set,
                            const std::function<void(std::size_t number)>& branch) = 0;
  /// What is put there until the range ends has this name in the vendor's profilers. By threads.
  virtual void begin_range(const std::string& name) = 0;
  virtual void end_range() = 0;
  /// Its name in the device's own interface: a CUstream.
  virtual void* native() const = 0;
};

class NamedRange {
 public:
  NamedRange(DeviceQueue& queue, const std::string& name) : queue_(queue) {
    queue_.begin_range(name);
  }
  ~NamedRange() { queue_.end_range(); }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;

 private:
  DeviceQueue& queue_;
};

/// What was put on queues, captured instead of done, to be put again and again.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  /// Puts all of it on a queue. It must live until that is done.
  virtual void put(DeviceQueue& queue) const = 0;
};

/// A device has its queues several times: work that is put on those for capture does not run. What
/// is inside a captured loop or branch goes to the set after that of its queue.
enum class QueueSet : unsigned { run, capture };

constexpr QueueSet inside(QueueSet set) {
  return static_cast<QueueSet>(static_cast<unsigned>(set) + 1);
}

/// A device that works by itself. Every run on it begins and ends on its main queue, so that
/// runs come one after the other there, each with its streams side by side, and memory that is
/// freed in the main queue's order is nobody's any more. Thread-safe; all of it throws Error where
/// the device has failed.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The queue of a run's stream `index`, from 0; 0 is the main one.
  virtual DeviceQueue& queue(unsigned index, QueueSet set = QueueSet::run) = 0;
  DeviceQueue& main() { return queue(0); }
  /// For copies from the host, and to it.
  virtual DeviceQueue& from_host() = 0;
  virtual DeviceQueue& to_host() = 0;

  /// Captures what `put` puts on the queues for capture: all of it must come after what it puts on
  /// queue 0 first, and before what it puts there last.
  virtual std::shared_ptr<const CapturedWork> capture(const std::function<void()>& put) = 0;

  /// Memory for what is put on the main queue from now on; null if there is not enough.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Gives it back once what is on the main queue now is done.
  virtual void free(void* data) = 0;
  /// Bytes that are kept for reuse, and giving them back to the system.
  virtual std::size_t cached() const = 0;
  virtual void release_cached() = 0;

  /// Page-locked memory of the host, which copies need. Null if there is not enough.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void free_host(void* data) noexcept = 0;
};

}  // namespace anabranch
