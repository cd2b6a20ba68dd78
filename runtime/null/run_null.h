// The null device: runs nothing, records everything.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"
#include "runtime/memory/buffer.h"

namespace anabranch::null {

/// A step that would have run.
struct Entry {
  std::string program;
  std::uint32_t stream = 0;
  std::string name;            ///< of the step
  std::vector<EventId> waits;  ///< events that its stream waited for since the step before

  bool operator==(const Entry&) const = default;
};

/// Logs each step on its stream's device, in an order that the streams and events allow, and gives
/// zero-filled outputs, one per output slot. Throws InternalError if the streams wait for each
/// other for ever.
std::vector<Buffer> run(const Program& program);

/// What has been logged on `device` since the last call.
std::vector<Entry> take_log(const Device& device);

}  // namespace anabranch::null
