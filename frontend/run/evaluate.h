// Running what was recorded.
#pragma once

#include <cstdint>

#include "anabranch/async.h"
#include "anabranch/options.h"
#include "frontend/array/expression.h"

namespace anabranch {

/// Leaves out where the parameters are, where everything is on the one device of the options: so
/// that one program is compiled once, however its inputs are given.
void simplify_devices(Options& options, const Graph& graph);

/// Dispatches every recorded expression that a handle holds, on whichever device.
void evaluate_all();

/// How many operations would run for this one, shared ones counted once.
std::uint32_t count_recorded(const Recorded& recorded);

/// The memory of an array, once dispatched: `expression` is neither traced nor recorded afterwards.
/// It is no host scalar.
Buffer memory_of(const Array& array);
/// Puts a host scalar on `device`.
Buffer memory_of(const Array& array, const Device& device);

}  // namespace anabranch
