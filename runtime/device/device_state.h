// DeviceState: what the runtime remembers of a device. Inside runtime/ only.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/executor/flights.h"
#include "runtime/memory/allocator.h"
#include "runtime/stream/completion.h"
#include "runtime/timeline/rows.h"

namespace anabranch {

/// Made on first use and never destroyed: arrays in static storage outlive every static of ours.
struct DeviceState {
  explicit DeviceState(Device device, Engine* engine = nullptr)
      : device(device), engine(engine), allocator(device, engine) {}

  const Device device;
  Engine* const engine;  ///< null where the host's threads do the work
  Allocator allocator;
  Completion completion;
  Flights flights;
  std::atomic<std::uint64_t> launches_until_failure{UINT64_MAX};  ///< for tests
  TimelineRows timeline_streams, timeline_copies;
};

/// For tests: after that many further launches on `device`, one fails.
void fail_launch_after(const Device& device, std::uint64_t launches);

/// Throws Error, naming the devices there are, if there is no such device.
DeviceState& device_state(const Device& device);

/// The device's allocator. Throws as `device_state` does.
Allocator& allocator(const Device& device);

/// The states of the devices used so far.
std::vector<DeviceState*> used_device_states();

}  // namespace anabranch
