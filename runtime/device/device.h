// The devices of this machine, and what may be set on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/device.h"

namespace anabranch {

/// The devices of this machine that run programs.
std::vector<Device> devices();

/// Where arrays made of the host's values live and programs run that do not say where: cpu:0 at
/// first.
Device default_device();
/// Throws Error if there is no such device.
void set_default_device(const Device& device);

/// Whether arrays can live there and programs can run there.
bool exists(const Device& device);
/// "there is no device cuda:0, since this build has no CUDA; there is cpu:0": for errors.
std::string missing_text(const Device& device);

inline constexpr int max_cpu_devices = 64;

/// How many CPU devices there are (1 at first), each with cores, memory and streams of its own.
/// Threads move between devices that have begun to work; what is in flight goes on. Throws Error
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

/// Executions that a device lets be in flight (32 at first) before a submitting thread waits for
/// the oldest. One that spans devices counts on each, with the bytes that it needs there. Where
/// nothing but custom calls has moved for a while, which may wait for what this thread is to do,
/// this limit and that of bytes give way, by one execution at a time.
int in_flight_limit(const Device& device);
/// Throws Error unless `limit` is at least 1.
void set_in_flight_limit(const Device& device, int limit);

/// Bytes that executions in flight on a device may need (inputs, results and temporaries) before a
/// submitting thread waits for the oldest; two may be in flight whatever they need, so that the
/// device goes from one to the next. It also bounds what has begun: an execution that would exceed
/// it waits, without memory, for others to end. So a loop that never waits takes no more than this
/// on top of what the same loop takes that waits for every step.
///
/// At first 1/128 of the machine's memory, so that it is nothing that a program which fits would
/// notice, but at most 256 MB: a device takes 10 ms to read as much, and a thread a thousandth of
/// that to submit more.
std::size_t in_flight_bytes(const Device& device);
/// Throws Error unless `bytes` is at least 1.
void set_in_flight_bytes(const Device& device, std::size_t bytes);

}  // namespace anabranch
