// DeviceState: what the runtime remembers of a device. Inside runtime/ only.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "anabranch/devices.h"
#include "runtime/executor/admission.h"
#include "runtime/memory/allocator.h"
#include "runtime/stream/completion.h"
#include "runtime/timeline/rows.h"

namespace anabranch {

/// Made on first use and never destroyed: arrays in static storage outlive every static of ours.
struct DeviceState {
  DeviceState(Device device, StreamExecutor* stream_executor, bool keeps_memory)
      : device(device),
        stream_executor(stream_executor),
        allocator(device, stream_executor, keeps_memory),
        admission(stream_executor) {}

  const Device device;
  StreamExecutor* const stream_executor;  ///< null where the host's threads do the work
  Allocator allocator;
  Completion completion;
  Admission admission;
  std::atomic<std::uint64_t> launches_until_failure{UINT64_MAX};  ///< for tests
  TimelineRows timeline_streams, timeline_copies;
};

/// For tests: after that many further allocations on `device`, one fails.
void fail_allocation_after(const Device& device, std::uint64_t allocations);
/// For tests: after that many further launches on `device`, one fails.
void fail_launch_after(const Device& device, std::uint64_t launches);

/// Throws Error, naming the devices there are, if there is no such device.
DeviceState& device_state(const Device& device);

/// The device's allocator. Throws as `device_state` does.
Allocator& allocator(const Device& device);

/// The states of the devices used so far.
std::vector<DeviceState*> used_device_states();

}  // namespace anabranch
