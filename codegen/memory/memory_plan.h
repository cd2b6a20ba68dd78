// Offsets of temporaries in one arena, reused wherever the schedule already orders the uses.
#pragma once

#include "ir/program/program.h"

namespace anabranch {

/// Sets every temporary's offset (64-byte aligned), `arena_bytes`, `live_bytes` and `donations`.
/// Two temporaries share bytes only if, in the partial order that streams and events make, the last
/// use of one comes before the first of the other, or one step says that it may write the second
/// in place of the first; so reuse adds no waits. The packing is arena.h's.
void plan_memory(Program& program);

}  // namespace anabranch
