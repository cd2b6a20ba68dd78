// The host's task for the op `fft`: many transforms divided among threads, or the lines of a few
// large ones.
#pragma once

#include "codegen/fft/instruction_set.h"
#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

/// For so many threads. The bits of the result depend on the call alone: not on how many threads
/// there are, nor on the instruction set. Single transforms of reals along one axis have one
/// thread.
HostTask fft_task(const CallStep& call, std::int64_t threads,
                  fft::InstructionSet set = fft::instruction_sets().back());

}  // namespace anabranch
