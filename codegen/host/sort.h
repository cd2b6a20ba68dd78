// The host's functions of the ops `sort` and `argsort`.
#pragma once

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::host {

/// Lines are shared out among threads; where they are few and long, threads sort parts of a line
/// and merge them together.
HostTask sort_task(const CallStep& call);

}  // namespace anabranch::host
