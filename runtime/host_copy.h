// HostCopy: a copy between the host and a device, on the timeline.
#pragma once

#include <cstddef>

#include "runtime/device_state.h"
#include "runtime/timeline.h"

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

}  // namespace anabranch
