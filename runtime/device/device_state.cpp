#include "runtime/device/device_state.h"

#include <array>
#include <mutex>

#include "anabranch/error.h"
#include "runtime/cuda/gpus.h"
#include "runtime/device/device.h"
#include "runtime/executor/stall.h"
#include "runtime/fork.h"

namespace anabranch {
namespace {

constexpr int kinds = 3;
constinit std::mutex mutex;
constinit std::array<std::atomic<DeviceState*>, kinds * max_devices> states{};

void give_way_everywhere() {
  for (DeviceState* device : used_device_states()) device->admission.give_way();
}

}  // namespace

// One that has been used remains where the device no longer exists: for what is in flight there.
DeviceState& device_state(const Device& device) {
  const auto index = static_cast<std::size_t>(device.index());
  if (index >= max_devices) throw Error("device: " + missing_text(device));
  auto& slot = states[static_cast<std::size_t>(device.kind()) * max_devices + index];
  if (DeviceState* state = slot.load(std::memory_order_acquire)) return *state;
  check_no_orphan("device");
  if (!exists(device)) throw Error("device: " + missing_text(device));
  std::lock_guard lock(mutex);
  if (!slot.load(std::memory_order_relaxed)) {
    give_way_by(&give_way_everywhere);
    StreamExecutor* stream_executor =
        device.kind() == DeviceKind::cuda ? &cuda::stream_executor(device.index()) : nullptr;
    slot.store(new DeviceState(device, stream_executor, keeps_memory()), std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

std::vector<DeviceState*> used_device_states() {
  std::vector<DeviceState*> used;
  for (auto& slot : states) {
    if (DeviceState* state = slot.load(std::memory_order_acquire)) used.push_back(state);
  }
  return used;
}

void fail_allocation_after(const Device& device, std::uint64_t allocations) {
  allocator(device).fail_after(allocations);
}

void fail_launch_after(const Device& device, std::uint64_t launches) {
  device_state(device).launches_until_failure = launches;
}

Allocator& allocator(const Device& device) { return device_state(device).allocator; }

}  // namespace anabranch
