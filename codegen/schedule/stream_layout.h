// Steps laid on their streams, with events where a dependency crosses from one to another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/schedule/dependencies.h"
#include "codegen/schedule/predict.h"
#include "ir/program/program.h"

namespace anabranch {

struct StreamLayout {
  std::vector<Stream> streams;
  std::uint32_t event_count = 0;
};

/// Each stream runs its steps in `order`, which no dependency contradicts, so no assignment makes
/// streams wait for each other in a circle. A wait is left out where the streams and the other
/// waits imply it (vector clocks: Fidge 1988, Mattern 1989); an event that several streams wait for
/// is recorded once. The streams that `stream_of` names are numbered anew, in the order of their
/// first step.
StreamLayout lay_out(const Program& program, const Dependencies& dependencies, Assignment stream_of,
                     std::span<const StepId> order);

}  // namespace anabranch
