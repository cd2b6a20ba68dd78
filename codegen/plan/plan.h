// From a fused graph to a program whose steps have no streams, costs or memory yet.
#pragma once

#include <span>

#include "anabranch/options.h"
#include "ir/program/program.h"
#include "passes/placement.h"

namespace anabranch {

/// The graph holds parameters, constants, reshapes (which share the memory of what they reshape),
/// fusions, transfers, calls, loops and branches alone. Constants are put on each of the `devices`
/// that reads them; kernels are as `lower` made them. What updates an array comes after whatever
/// else reads it, where it can. Throws Error where a dot is on a device without its library.
Program plan(const PlacedGraph& placed, std::span<const Device> devices, const Options& options);

}  // namespace anabranch
