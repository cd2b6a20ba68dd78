// Offsets of temporaries in one arena, reused wherever the schedule already orders the uses.
#pragma once

#include "runtime/executable.h"

namespace anabranch {

/// Sets every temporary's offset (64-byte aligned), `arena_bytes` and `live_bytes`. Two temporaries
/// share bytes only if, in the partial order that streams and events make, the last use of one
/// comes before the first of the other; so reuse adds no waits. Best fit by decreasing size.
void plan_memory(Executable& executable);

}  // namespace anabranch
