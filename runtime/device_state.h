// DeviceState: what the runtime remembers of a device. Inside runtime/ only.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/device.h"

namespace anabranch {

/// An execution as the in-flight limit sees it.
class Flight {
 public:
  virtual ~Flight() = default;
  /// Blocks until it has landed.
  void wait() const;

 private:
  friend class Flights;
  std::atomic<std::uint32_t> landed_{0};
  std::list<std::shared_ptr<Flight>>::iterator place_;
};

/// The executions in flight on one device, oldest first. Thread-safe.
class Flights {
 public:
  /// Adds `flight`; first waits for the oldest while there are `limit` or more, unless
  /// `never_wait`.
  void take_off(std::shared_ptr<Flight> flight, bool never_wait);
  void land(Flight& flight);
  /// Waits until all that are in flight now have landed.
  void wait_all();

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int limit) { limit_.store(limit, std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<Flight>> flights_;
  std::atomic<int> limit_{32};
};

/// Made on first use and never destroyed: arrays in static storage outlive every static of ours.
struct DeviceState {
  explicit DeviceState(Device device) : device(device), allocator(device) {}

  Device device;
  Allocator allocator;
  Flights flights;
  std::atomic<std::uint64_t> timeline_streams{0};  ///< a bit for each stream drawn at the moment
};

/// Throws Error, naming the devices there are, if there is no such device.
DeviceState& device_state(const Device& device);

/// The states of the devices used so far.
std::vector<DeviceState*> used_device_states();

}  // namespace anabranch
