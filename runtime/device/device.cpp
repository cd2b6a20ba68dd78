#include "runtime/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "ir/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/gpus.h"
#include "runtime/device/device_state.h"
#include "runtime/device/first_devices.h"
#include "runtime/fork.h"

namespace anabranch {
namespace {

constexpr int kinds = 3;
constexpr int max_devices = max_cpu_devices;

struct Registry {
  std::mutex mutex;
  std::atomic<int> cpu_devices{1};
  std::atomic<Device> default_device{Device()};
  std::array<std::atomic<DeviceState*>, kinds * max_devices> states{};
};

constinit std::atomic<FirstDevices (*)() noexcept> read_first{nullptr};

bool exists_in(const Registry& registry, const Device& device) {
  switch (device.kind()) {
    case DeviceKind::cpu:
      return device.index() >= 0 && device.index() < registry.cpu_devices;
    case DeviceKind::cuda:
      return device.index() >= 0 && device.index() < cuda::gpu_count();
    case DeviceKind::null:
      return device.index() >= 0 && device.index() < max_devices;
  }
  return false;
}

Registry* make_registry() {
  auto* registry = new Registry;
  const auto read = read_first.load();
  const FirstDevices first = read ? read() : FirstDevices();
  registry->cpu_devices = first.cpu_devices;
  if (first.default_device && exists_in(*registry, *first.default_device)) {
    registry->default_device = *first.default_device;
  }
  return registry;
}

Registry& registry() {
  static Registry* registry = make_registry();
  return *registry;
}

}  // namespace

void read_first_devices_by(FirstDevices (*read)() noexcept) { read_first = read; }

std::vector<Device> devices() {
  std::vector<Device> result;
  for (int i = 0; i < registry().cpu_devices; ++i) result.push_back(Device::cpu(i));
  for (int i = 0; i < cuda::gpu_count(); ++i) result.push_back(Device::cuda(i));
  return result;
}

Device default_device() { return registry().default_device.load(std::memory_order_relaxed); }

void set_default_device(const Device& device) {
  if (!exists(device)) throw Error("set_default_device: " + missing_text(device));
  registry().default_device = device;
}

bool exists(const Device& device) { return exists_in(registry(), device); }

std::string missing_text(const Device& device) {
  std::string text = fmt::format("there is no device {}", to_string(device));
  if (device.kind() == DeviceKind::cuda && cuda::gpu_count() == 0) {
    text += ", since " + cuda::why_no_gpu();
  }
  text += "; there is ";
  const std::vector<Device> known = devices();
  for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + to_string(known[i]);
  if (device.kind() == DeviceKind::cpu) {
    text += "; set_cpu_devices or ANABRANCH_CPU_DEVICES makes more, up to " +
            std::to_string(max_cpu_devices);
  }
  return text;
}

void set_cpu_devices(int count) {
  if (count < 1 || count > max_devices) {
    throw Error(fmt::format("set_cpu_devices: {} devices asked for; there may be 1 to {}", count,
                            max_devices));
  }
  if (cpu::ThreadPool::on_worker()) {
    throw Error("set_cpu_devices: called inside a custom call; call it where programs are started");
  }
  registry().cpu_devices = count;
  cpu::ThreadPool::share_out_cores();
}

CoreRange cores(const Device& device) {
  if (device.kind() != DeviceKind::cpu) return {};
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int count = registry().cpu_devices;
  const int index = device.index();
  if (count >= all || index >= count) return {index % all, 1};
  const int each = all / count, more = all % count;
  return {index * each + std::min(index, more), each + (index < more ? 1 : 0)};
}

// One that has been used goes on where it no longer exists: for what is in flight there.
DeviceState& device_state(const Device& device) {
  const auto index = static_cast<std::size_t>(device.index());
  if (index >= max_devices) throw Error("device: " + missing_text(device));
  auto& slot = registry().states[static_cast<std::size_t>(device.kind()) * max_devices + index];
  if (DeviceState* state = slot.load(std::memory_order_acquire)) return *state;
  check_no_orphan("device");
  if (!exists(device)) throw Error("device: " + missing_text(device));
  std::lock_guard lock(registry().mutex);
  if (!slot.load(std::memory_order_relaxed)) {
    Engine* engine = device.kind() == DeviceKind::cuda ? &cuda::engine(device.index()) : nullptr;
    slot.store(new DeviceState(device, engine), std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

std::vector<DeviceState*> used_device_states() {
  std::vector<DeviceState*> used;
  for (auto& slot : registry().states) {
    if (DeviceState* state = slot.load(std::memory_order_acquire)) used.push_back(state);
  }
  return used;
}

void fail_launch_after(const Device& device, std::uint64_t launches) {
  device_state(device).launches_until_failure = launches;
}

Allocator& allocator(const Device& device) { return device_state(device).allocator; }

int in_flight_limit(const Device& device) { return device_state(device).flights.limit(); }

void set_in_flight_limit(const Device& device, int limit) {
  if (limit < 1) {
    throw Error(fmt::format("set_in_flight_limit: {} on {}; the limit must be at least 1", limit,
                            to_string(device)));
  }
  device_state(device).flights.set_limit(limit);
}

std::size_t in_flight_bytes(const Device& device) {
  return device_state(device).flights.byte_limit();
}

void set_in_flight_bytes(const Device& device, std::size_t bytes) {
  if (bytes < 1) {
    throw Error(fmt::format("set_in_flight_bytes: 0 on {}; the limit must be at least 1 byte",
                            to_string(device)));
  }
  device_state(device).flights.set_byte_limit(bytes);
}

}  // namespace anabranch
