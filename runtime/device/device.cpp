#include "runtime/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "anabranch/error.h"
#include "runtime/cuda/gpus.h"
#include "runtime/device/first_devices.h"

namespace anabranch {
namespace {

struct Registry {
  std::atomic<int> cpu_devices{1};
  bool keeps_memory = true;
  std::atomic<Device> default_device{Device()};
};

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
  const FirstDevices first = first_devices();
  registry->cpu_devices = first.cpu_devices;
  registry->keeps_memory = first.keep_memory;
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

bool keeps_memory() { return registry().keeps_memory; }

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
            std::to_string(max_devices);
  }
  return text;
}

void set_cpu_device_count(int count) { registry().cpu_devices = count; }

CoreRange cores(const Device& device) {
  if (device.kind() != DeviceKind::cpu) return {};
  // Asked once: the C library reads a file, and each kernel that is planned wants to know.
  static const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int count = registry().cpu_devices;
  const int index = device.index();
  if (count >= all || index >= count) return {index % all, 1};
  const int each = all / count, more = all % count;
  return {index * each + std::min(index, more), each + (index < more ? 1 : 0)};
}

}  // namespace anabranch
