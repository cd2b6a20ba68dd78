// For a while, another device for what names none.
#pragma once

#include "anabranch/devices.h"

namespace anabranch::testing {

/// Tests that are about the CPU say so with one of these: the suite may run on another device
/// (ANABRANCH_DEVICE).
class DefaultDevice {
 public:
  explicit DefaultDevice(const Device& device) { set_default_device(device); }
  ~DefaultDevice() { set_default_device(before_); }
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;

 private:
  const Device before_ = default_device();
};

}  // namespace anabranch::testing
