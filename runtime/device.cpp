#include "runtime/device.h"

#include <fmt/format.h>

#include <array>

#include "ir/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device_state.h"
#include "runtime/spin.h"
#include "runtime/timeline.h"

namespace anabranch {
namespace {

constexpr int kinds = 3;
constexpr int max_devices = max_cpu_devices;

struct Registry {
  std::mutex mutex;
  std::atomic<int> cpu_devices{1};
  std::array<std::atomic<DeviceState*>, kinds * max_devices> states{};
};

Registry& registry() {
  static Registry* registry = new Registry;
  return *registry;
}

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> result;
  for (int i = 0; i < registry().cpu_devices; ++i) result.push_back(Device::cpu(i));
  return result;
}

bool exists(const Device& device) {
  switch (device.kind()) {
    case DeviceKind::cpu:
      return device.index() >= 0 && device.index() < registry().cpu_devices;
    case DeviceKind::cuda:
      return false;
    case DeviceKind::null:
      return device.index() >= 0 && device.index() < max_devices;
  }
  return false;
}

std::string missing_text(const Device& device) {
  std::string text = fmt::format("there is no device {}", to_string(device));
  if (device.kind() == DeviceKind::cuda) text += ", since this build has no CUDA";
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
  registry().cpu_devices = count;
}

DeviceState& device_state(const Device& device) {
  if (!exists(device)) throw Error("device: " + missing_text(device));
  auto& slot = registry().states[static_cast<std::size_t>(device.kind()) * max_devices +
                                 static_cast<std::size_t>(device.index())];
  if (DeviceState* state = slot.load(std::memory_order_acquire)) return *state;
  std::lock_guard lock(registry().mutex);
  if (!slot.load(std::memory_order_relaxed)) {
    slot.store(new DeviceState(device), std::memory_order_release);
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

Allocator& allocator(const Device& device) { return device_state(device).allocator; }

int in_flight_limit(const Device& device) { return device_state(device).flights.limit(); }

void set_in_flight_limit(const Device& device, int limit) {
  if (limit < 1) {
    throw Error(fmt::format("set_in_flight_limit: {} on {}; the limit must be at least 1", limit,
                            to_string(device)));
  }
  device_state(device).flights.set_limit(limit);
}

void Flight::wait() const {
  if (landed_.load(std::memory_order_acquire) != 0) return;
  cpu::ThreadPool::instance().help_until(landed_, wake_up_time);
  landed_.wait(0, std::memory_order_acquire);
}

void Flights::take_off(std::shared_ptr<Flight> flight, bool never_wait) {
  std::unique_lock lock(mutex_);
  while (!never_wait && flights_.size() >= static_cast<std::size_t>(limit())) {
    std::shared_ptr<Flight> oldest = flights_.front();
    lock.unlock();
    {
      timeline::Span span("in-flight limit", timeline::Category::in_flight_wait);
      oldest->wait();
    }
    lock.lock();
  }
  Flight& added = *flight;
  added.place_ = flights_.insert(flights_.end(), std::move(flight));
}

void Flights::land(Flight& flight) {
  std::shared_ptr<Flight> kept;  // whom it wakes may be the last to hold it
  {
    std::lock_guard lock(mutex_);
    kept = std::move(*flight.place_);
    flights_.erase(flight.place_);
  }
  flight.landed_.store(1, std::memory_order_release);
  flight.landed_.notify_all();
}

void Flights::wait_all() {
  std::vector<std::shared_ptr<Flight>> now;
  {
    std::lock_guard lock(mutex_);
    now.assign(flights_.begin(), flights_.end());
  }
  if (now.empty()) return;
  timeline::Span span("wait for all", timeline::Category::host_wait);
  for (const std::shared_ptr<Flight>& flight : now) flight->wait();
}

}  // namespace anabranch
