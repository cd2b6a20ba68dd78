// How much may be in flight on a device.
#pragma once

#include <cstddef>

#include "anabranch/device.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

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
/// At first, on a CPU, 1/128 of the machine's memory, so that it is nothing that a program which
/// fits would notice, but at most 256 MB: cores take 10 ms to read as much, and a thread a
/// thousandth of that to submit more. On a GPU, 1/16 of its memory, 5 GB on one with 80: it takes 2
/// ms to read as much, and a thread that has waited for it 0.05 to notice.
std::size_t in_flight_bytes(const Device& device);
/// Throws Error unless `bytes` is at least 1.
void set_in_flight_bytes(const Device& device, std::size_t bytes);

}  // namespace anabranch
