// The devices of this machine, and what may be set on them.
#pragma once

#include <vector>

#include "anabranch/device.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// The devices of this machine that run programs.
std::vector<Device> devices();

/// Where arrays made of the host's values live and programs run that do not say where: cpu:0 at
/// first.
Device default_device();
/// Throws Error if there is no such device.
void set_default_device(const Device& device);

/// Whether arrays can live there and programs can run there.
bool exists(const Device& device);

/// How many CPU devices there are (1 at first), each with cores, memory and streams of its own.
/// Threads move between devices that have begun to work; what is in flight continues. Throws Error
/// unless `count` is 1 to 64, and inside a custom call.
void set_cpu_devices(int count);

/// Cores `first` to `first + count - 1` of the machine.
struct CoreRange {
  int first = 0;
  int count = 1;
};
/// The cores that a CPU device may use: the machine's are dealt out evenly, one more to each of the
/// first devices where they do not come out even; where there are more devices than cores, each has
/// one and some share it. A thread keeps to no core: it is their number that counts. One core for
/// any other device.
CoreRange cores(const Device& device);

}  // namespace anabranch
