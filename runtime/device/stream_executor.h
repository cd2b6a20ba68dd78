// StreamExecutor: what a device that works by itself shows the rest of the runtime: streams, events
// recorded on them, and memory in their order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace anabranch {

class DeviceStream;

/// What a device knows the condition of a captured loop or branch by.
using Condition = std::uint64_t;
/// Enqueues what sets a condition: for a loop, whether it continues; for a branch, its number.
using SetCondition = std::function<void(Condition condition, DeviceStream& stream)>;

/// A point in a stream: complete once all that was enqueued before it is done. Thread-safe.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Never waits. Throws Error where the device has failed; it is complete then.
  virtual bool is_complete() const = 0;
  /// Sleeps until it is complete. Throws Error where the device has failed.
  virtual void wait() const = 0;
  /// Where it was recorded. The events of a stream complete in the order of their records.
  virtual const DeviceStream& stream() const = 0;
};

/// A point in a stream that remembers when it completed. Thread-safe.
class TimingEvent {
 public:
  virtual ~TimingEvent() = default;
  /// On the host's clock, to some microseconds; the time between two of one stream is the device's
  /// own, to half a microsecond. It must be complete. Throws Error where the device has failed.
  virtual std::chrono::steady_clock::time_point time() const = 0;
};

/// Work that a device does in order, at some time after it was enqueued. All of it throws Error
/// where the device has failed. Nothing here waits for the device, unless the device refuses what
/// would keep the order: then the host waits in its place before it throws, so that what comes
/// next, memory that is freed among it, comes later all the same. Thread-safe, but what several
/// threads enqueue on one stream comes in any order.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// Between any two of this device's memory and page-locked memory of the host.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// What comes after it runs once `event`, of any stream of the same kind of device, is complete;
  /// and if this throws, `event` is complete.
  virtual void wait(const DeviceEvent& event) = 0;
  /// If this throws, all that was enqueued here is done.
  virtual std::shared_ptr<const DeviceEvent> record() = 0;
  virtual std::shared_ptr<const TimingEvent> record_time() = 0;
  /// On a stream for capture: what `body` enqueues on `inside`, a stream of the next set that
  /// nothing is captured on, is done for as long as the condition holds, without the host. `set` is
  /// called for this stream and, at the end of the body, for `inside`.
  virtual void enqueue_loop(DeviceStream& inside, const SetCondition& set,
                            const std::function<void()>& body) = 0;
  /// The same for one of `count` branches: that of the number that `set` sets, if there is one.
  virtual void enqueue_branches(DeviceStream& inside, std::size_t count, const SetCondition& set,
                                const std::function<void(std::size_t number)>& branch) = 0;
  /// What is enqueued until the range ends has this name in the vendor's profilers. By threads.
  virtual void begin_range(const std::string& name) = 0;
  virtual void end_range() = 0;
  /// Its name in the device's own interface: a CUstream.
  virtual void* native() const = 0;
};

class NamedRange {
 public:
  NamedRange(DeviceStream& stream, const std::string& name) : stream_(stream) {
    stream_.begin_range(name);
  }
  ~NamedRange() { stream_.end_range(); }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;

 private:
  DeviceStream& stream_;
};

/// What was enqueued on streams, captured instead of done, to be launched again and again.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
  /// Enqueues all of it. It must live until that is done.
  virtual void launch(DeviceStream& stream) const = 0;
};

/// A device has its streams several times: work that is enqueued on those for capture does not run.
/// What is inside a captured loop or branch goes to the set after that of its stream.
enum class StreamSet : unsigned { run, capture };

constexpr StreamSet inside(StreamSet set) {
  return static_cast<StreamSet>(static_cast<unsigned>(set) + 1);
}

/// A device that works by itself. Every run on it begins and ends on its main stream, so that
/// runs come one after the other there, each with its streams side by side, and memory that is
/// freed in the main stream's order is in use no more. Thread-safe; all of it throws Error where
/// the device has failed.
class StreamExecutor {
 public:
  virtual ~StreamExecutor() = default;

  /// The stream of a run's stream `index`, from 0; 0 is the main one.
  virtual DeviceStream& stream(unsigned index, StreamSet set = StreamSet::run) = 0;
  DeviceStream& main() { return stream(0); }
  /// For copies from the host, and to it.
  virtual DeviceStream& from_host() = 0;
  virtual DeviceStream& to_host() = 0;

  /// Captures what `enqueue` enqueues on the streams for capture: all of it must come after what it
  /// enqueues on stream 0 first, and before what it enqueues there last.
  virtual std::shared_ptr<const CapturedGraph> capture(const std::function<void()>& enqueue) = 0;

  /// All that it has.
  virtual std::size_t memory_bytes() const = 0;
  /// Memory for what is enqueued on the main stream from now on; null if there is not enough.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Gives it back once what is on the main stream now is done.
  virtual void free(void* data) = 0;
  /// Bytes that are kept for reuse, and giving them back to the system.
  virtual std::size_t cached() const = 0;
  virtual void release_cached() = 0;

  /// Page-locked memory of the host, which copies need. Null if there is not enough.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void free_host(void* data) noexcept = 0;
};

}  // namespace anabranch
