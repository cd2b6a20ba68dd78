// The host's functions of the ops `sort` and `argsort`.
#pragma once

#include <cstdint>

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::host {

/// For so many threads. Lines are shared out among them; where they are few and long, threads sort
/// parts of a line and merge them together.
HostTask sort_task(const CallStep& call, std::int64_t threads);

}  // namespace anabranch::host
