// Program: what is launched, before it has streams.
#pragma once

#include <string>
#include <vector>

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

}  // namespace anabranch
