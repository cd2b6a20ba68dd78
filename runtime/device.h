// The devices of this machine, and what may be set on them.
#pragma once

#include <string>
#include <vector>

#include "ir/device.h"

namespace anabranch {

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
