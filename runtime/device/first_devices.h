// What the devices are before the program sets anything, and how their number changes. Inside the
// library only.
#pragma once

#include <optional>

#include "anabranch/device.h"

namespace anabranch {

struct FirstDevices {
  int cpu_devices = 1;
  std::optional<Device> default_device;  ///< left out where it does not exist
  bool keep_memory = true;  ///< ANABRANCH_KEEP_MEMORY=0: what is freed goes back to the system
};

/// Asked once, at the first use of any device. What reads the environment defines it:
/// frontend/run/env.cpp.
FirstDevices first_devices() noexcept;

/// How many CPU devices exist from now on: for `set_cpu_devices`.
void set_cpu_device_count(int count);

}  // namespace anabranch
