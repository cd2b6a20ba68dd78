// Device: the name of a place where arrays live and kernels run.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// `null` runs nothing and records everything: schedules are tested on it without hardware.
enum class DeviceKind : std::uint8_t { cpu, cuda, null };

/// The words of the text form, indexed by the enumerator.
inline constexpr std::string_view device_kind_names[] = {"cpu", "cuda", "null"};

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

/// Where each parameter of a graph is; nothing where any device will do, and for those beyond the
/// end. Empty: all are on the home device.
using ParameterDevices = std::vector<std::optional<Device>>;

/// "cpu:0"
std::string to_string(const Device& device);
/// What `to_string` gives, read back; nothing where `text` names no device.
std::optional<Device> parse_device(std::string_view text);

}  // namespace anabranch
