// What a device that works by itself shows the rest of the runtime: queues of work, and marks in
// them.
#pragma once

#include <cstddef>
#include <memory>

namespace anabranch {

/// A point in a queue: it is past once all that was put there before it is done. Thread-safe.
class Mark {
 public:
  virtual ~Mark() = default;
  /// Never waits. Throws Error where the device has failed.
  virtual bool is_past() const = 0;
  /// Blocks until it is past. Throws Error where the device has failed.
  virtual void wait() const = 0;
};

/// Work that a device does in order, at some time after it was put there. Nothing here waits for
/// the device; all of it throws Error where the device has failed. Thread-safe, but what several
/// threads put on one queue comes in any order.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  /// Between any two of this device's memory and page-locked memory of the host.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// What comes after it runs once `mark`, of any queue of the same kind, is past.
  virtual void wait(const Mark& mark) = 0;
  virtual std::shared_ptr<const Mark> mark() = 0;

  /// Memory that is there for what is put on this queue from now on; null if there is not enough.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Once what is on this queue now is done.
  virtual void free(void* data) = 0;

  /// Its name in the device's own interface: a CUstream.
  virtual void* native() const = 0;
};

}  // namespace anabranch
