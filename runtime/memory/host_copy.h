// Copies between the host and a device, on the timeline.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/device/device_state.h"
#include "runtime/timeline/timeline.h"

namespace anabranch {

/// Draws its own lifetime among the copies of `device`. Costs one load when nothing is recorded.
class HostCopy {
 public:
  HostCopy(const char* name, const Device& device, std::size_t bytes);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

 private:
  const char* const name_;
  const std::size_t bytes_;
  DeviceState* device_ = nullptr;  // while something is recorded
  std::uint32_t row_ = 0;
  timeline::Clock::time_point begin_;
};

/// The same of a copy that a device makes by itself: drawn between two marks of its queue.
class QueuedCopy {
 public:
  /// Before the copy is put on `queue`. Null where nothing is recorded. Throws Error where the
  /// device has failed.
  static std::shared_ptr<QueuedCopy> begin(const char* name, DeviceState& device,
                                           DeviceQueue& queue, std::size_t bytes);
  ~QueuedCopy() { device_.timeline_copies.give_back(row_); }
  QueuedCopy(const QueuedCopy&) = delete;
  QueuedCopy& operator=(const QueuedCopy&) = delete;

  /// After it was put there. Throws Error where the device has failed.
  void end() { end_ = queue_.time_mark(); }
  /// Once the device is past it.
  void draw() const noexcept;

 private:
  QueuedCopy(const char* name, DeviceState& device, DeviceQueue& queue, std::size_t bytes)
      : name_(name), bytes_(bytes), device_(device), queue_(queue), begin_(queue.time_mark()) {}

  const char* const name_;
  const std::size_t bytes_;
  DeviceState& device_;
  DeviceQueue& queue_;
  std::shared_ptr<const TimeMark> begin_, end_;
  const std::uint32_t row_ = device_.timeline_copies.take(0);
};

}  // namespace anabranch
