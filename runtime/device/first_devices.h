// What the devices are before the program sets anything, from what reads the environment, and how
// their number changes. Inside the library only.
#pragma once

#include <optional>

#include "ir/device.h"

namespace anabranch {

struct FirstDevices {
  int cpu_devices = 1;
  std::optional<Device> default_device;  ///< left out where it does not exist
};

/// `read` is asked once, at the first use of any device. Before that, nothing happens.
void read_first_devices_by(FirstDevices (*read)() noexcept);

/// How many CPU devices exist from now on: for `set_cpu_devices`.
void set_cpu_device_count(int count);

}  // namespace anabranch
