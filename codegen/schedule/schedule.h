// Scheduling: steps with dependencies to streams with events where streams meet.
#pragma once

#include <vector>

#include "codegen/options.h"
#include "codegen/schedule/device_model.h"
#include "ir/program/program.h"

namespace anabranch {

class LaunchTimes;

struct Schedule {
  Program program;
  bool has_choice = false;  ///< other times could make another one
};

/// Puts every step on a stream, with events only where a dependency crosses streams and is not
/// implied by others; then plans the memory (memory_plan.h). Chains that depend on each other share
/// a stream; programs that are predicted to gain nothing by several keep to one.
///
/// What a device is like, and what an event costs there, its backend says (device_model.h). Each
/// device has streams of its own, and one for the copies that come to it from others.
///
/// Where the arena would exceed `options.memory_limit`, it gives up streams, then the order of the
/// program; throws Error, with the bytes needed, where that does not help either.
///
/// Predictions are made from `Step::predicted_ns`, or from `measured` where that is given.
Schedule schedule(Program program, const Options& options, const LaunchTimes* measured = nullptr);

}  // namespace anabranch
