// Copies between the host and a device, on the timeline.
#pragma once

#include <cstddef>
#include <memory>

#include "anabranch/timeline.h"
#include "runtime/device/device_state.h"

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

/// The same of a copy that a device makes by itself: drawn between two events of its stream.
class EnqueuedCopy {
 public:
  /// Before the copy is enqueued on `stream`. Null where nothing is recorded. Throws Error where
  /// the device has failed.
  static std::shared_ptr<EnqueuedCopy> begin(const char* name, DeviceState& device,
                                             DeviceStream& stream, std::size_t bytes);
  ~EnqueuedCopy() { device_.timeline_copies.give_back(row_); }
  EnqueuedCopy(const EnqueuedCopy&) = delete;
  EnqueuedCopy& operator=(const EnqueuedCopy&) = delete;

  /// After it was enqueued. Throws Error where the device has failed.
  void end() { end_ = stream_.record_time(); }
  /// Once the device is past it.
  void draw() const noexcept;

 private:
  EnqueuedCopy(const char* name, DeviceState& device, DeviceStream& stream, std::size_t bytes)
      : name_(name),
        bytes_(bytes),
        device_(device),
        stream_(stream),
        begin_(stream.record_time()) {}

  const char* const name_;
  const std::size_t bytes_;
  DeviceState& device_;
  DeviceStream& stream_;
  std::shared_ptr<const TimingEvent> begin_, end_;
  const std::uint32_t row_ = device_.timeline_copies.take(0);
};

}  // namespace anabranch
