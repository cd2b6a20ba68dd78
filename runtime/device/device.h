// Devices as the runtime numbers them, and what it says of those that are missing.
#pragma once

#include <string>

#include "anabranch/devices.h"

namespace anabranch {

inline constexpr int max_devices = 64;  ///< of a kind

/// Whether allocators keep what is freed.
bool keeps_memory();

/// "there is no device cuda:0, since this build has no CUDA; there is cpu:0": for errors.
std::string missing_text(const Device& device);

}  // namespace anabranch
