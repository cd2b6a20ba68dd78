// Which loops and branches one block of a GPU runs from end to end.
#pragma once

#include <span>

#include "codegen/kernel/pass.h"
#include "ir/kernel/kernel.h"
#include "ir/program/program.h"

namespace anabranch::cuda {

/// Whether each region holds kernels, copies, and loops and branches like it alone, with as little
/// work a turn as is done by one block before a stream would have come to the next step.
bool is_small(std::span<const Program> regions);

/// map_threads and keep_rows.
std::span<const KernelPass> mapping_passes();

/// Whether one block has enough memory of its own, and one kernel enough arguments, for all of
/// `flow`, whose regions are small and scheduled.
bool can_be_whole(const Step& flow, std::span<const Kernel> kernels);

}  // namespace anabranch::cuda
