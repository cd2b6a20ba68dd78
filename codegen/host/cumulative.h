// The host's function of the op `cumulative`.
#pragma once

#include <cstdint>

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::host {

/// For so many threads. Lines are shared out among them; where they are few and long, blocks of
/// them are, in one pass over memory.
///
/// A line of neighbouring elements is combined in blocks of 32 KiB: each element is what comes
/// before its block, combined with the elements of its block up to it (codegen/host/scan_block.h).
/// So the order of additions depends on the shape alone. Other lines are combined one by one.
HostTask cumulative_task(const CallStep& call, std::int64_t threads);

}  // namespace anabranch::host
