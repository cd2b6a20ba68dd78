// Scheduling: steps with dependencies to streams with events where streams meet.
#pragma once

#include <vector>

#include "anabranch/options.h"
#include "codegen/schedule/device_model.h"
#include "ir/program/program.h"

namespace anabranch {

class LaunchTimes;

/// Puts every step on a stream, with events only where a dependency crosses streams and is not
/// implied by others. Chains that depend on each other share a stream; programs that are predicted
/// to gain nothing by several keep to one. Gives whether other times could make another schedule.
///
/// What a device is like, and what an event costs there, its backend says (device_model.h). Each
/// device has streams of its own, and one for the copies that come to it from others. Predictions
/// are made from `Step::predicted_ns`.
bool put_on_streams(Program& program, const Options& options);

/// Plans the memory of a program that is on streams (memory_plan.h). Where the arena would exceed
/// `options.memory_limit`, it gives up streams, then the order of the program; throws Error, with
/// the bytes needed, where that does not help either.
void fit_memory(Program& program, const Options& options);

struct Schedule {
  Program program;
  bool has_choice = false;  ///< other times could make another one
};

/// Both, from `measured` times where those are given.
Schedule schedule(Program program, const Options& options, const LaunchTimes* measured = nullptr);

}  // namespace anabranch
