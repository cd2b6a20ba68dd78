// The steps of a program on GPUs get what runs them there.
#pragma once

#include "anabranch/code_cache.h"
#include "runtime/executor/executable.h"

namespace anabranch::cuda {

/// Gives each step on GPUs its code, those inside loops and branches too, but for what the host
/// does: functions of the user's, and copies between host and GPU. `code` has an entry per step,
/// and the constants; `cache` may be null. Throws what compile_kernels and make_dot do, but for
/// what sets their conditions: where that cannot be had, putting it throws, and loops and branches
/// go step by step.
void link(const Program& program, CodeCache* cache, LinkedCode& code);

}  // namespace anabranch::cuda
