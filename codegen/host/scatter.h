// The op scatter on the host: the array is cut into parts, each of which one thread writes.
//
// Every thread reads all indices and takes the updates of its own part, in their order. So each
// element meets its updates in row-major order of the updates, however many threads there are. A
// scan of the indices costs about a nanosecond for each; what is left is memory traffic.
//
// Many updates of few elements are cut instead: each part of them is combined in a copy of its own,
// and the copies are combined in their order. Where the order does not matter (integers, extremes)
// there is a part for each thread; sums and products of floats have parts that their sizes decide.
#pragma once

#include <cstdint>

#include "anabranch/cost.h"
#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

/// Its buffers are the step's: operand, indices, updates, result. The result may be where the
/// operand is; elsewhere the task copies the operand first, part by part. `cores` are there to run
/// it.
HostTask scatter_task(const CallStep& scatter, std::int64_t cores);

/// Bytes and operations of all parts together, the copy of the operand among them unless the result
/// is in its place.
Cost scatter_cost(const CallStep& scatter, bool is_in_place = false);
/// On how many cores at once it is worth running.
std::int64_t scatter_pieces(const CallStep& scatter, std::int64_t cores);

}  // namespace anabranch
