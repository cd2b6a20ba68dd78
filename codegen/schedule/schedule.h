// Scheduling: calls with dependencies to streams of steps with events where streams meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/options.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// A program before it has streams: launches in a valid order over slots whose temporaries have no
/// offsets yet. `Launch::buffers` and `writes` say what depends on what.
struct Program {
  std::string name;
  std::vector<Device> further;  ///< besides the one that it is compiled for
  std::vector<Type> inputs;
  std::vector<Slot> slots;
  std::vector<SlotId> outputs;
  std::vector<Buffer> constants;
  std::vector<Launch> launches;
};

/// The device that `launch` runs on: where what it writes is.
inline DeviceIndex device_of(const Program& program, const Launch& launch) {
  return program.slots[launch.writes[0]].device;
}

/// Puts every launch on a stream, with events only where a dependency crosses streams and is not
/// implied by others; then plans the memory (memory_plan.h). Chains that depend on each other share
/// a stream; programs that are predicted to gain nothing by several keep to one.
///
/// What a device is like, and what an event costs there, is that device's own (device_model.h).
/// Each device has streams of its own, and one for the copies that come to it from others.
///
/// Where the arena would exceed `options.memory_limit`, it gives up streams, then the order of the
/// program; throws Error, with the bytes needed, where that does not help either.
///
/// Predictions are made from `Launch::predicted_ns`, or from `measured` where that is given. Where
/// measured times could make another schedule, the executable's first runs measure them.
Executable schedule(Program program, const Options& options, const LaunchTimes* measured = nullptr);

}  // namespace anabranch
