// Device: where arrays live and kernels run.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace anabranch {

/// `null` runs nothing and records everything: schedules are tested on it without hardware.
enum class DeviceKind : std::uint8_t { cpu, cuda, null };

/// A small value that names a device; the device's state is made on first use.
class Device {
 public:
  Device() = default;  ///< cpu:0
  static Device cpu(int index = 0) { return {DeviceKind::cpu, index}; }
  static Device cuda(int index = 0) { return {DeviceKind::cuda, index}; }
  static Device null(int index = 0) { return {DeviceKind::null, index}; }

  DeviceKind kind() const { return kind_; }
  int index() const { return index_; }
  auto operator<=>(const Device&) const = default;

 private:
  Device(DeviceKind kind, int index) : kind_(kind), index_(index) {}
  DeviceKind kind_ = DeviceKind::cpu;
  int index_ = 0;
};

/// "cpu:0"
std::string to_string(const Device& device);

/// The devices of this machine that run programs.
std::vector<Device> devices();

/// Whether arrays can live there and programs can run there.
bool exists(const Device& device);
/// "there is no device cuda:0, since this build has no CUDA; there is cpu:0": for errors.
std::string missing_text(const Device& device);

inline constexpr int max_cpu_devices = 64;

/// How many CPU devices there are (1 at first): further ones share the machine's threads but have
/// memory and streams of their own. Throws Error unless `count` is 1 to 64.
void set_cpu_devices(int count);

/// Executions that a device lets be in flight before a submitting thread waits for the oldest.
int in_flight_limit(const Device& device);
/// Throws Error unless `limit` is at least 1.
void set_in_flight_limit(const Device& device, int limit);

}  // namespace anabranch
