// Running what was recorded.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/options.h"
#include "frontend/array/array.h"
#include "frontend/array/expression.h"

namespace anabranch {

/// Dispatches everything that `arrays` still need, as one program, and returns without waiting.
/// What other handles hold on the way becomes concrete too, so that nothing runs twice. Arrays that
/// are traced stay as they are.
void evaluate(std::span<const Array> arrays);

/// Leaves out where the parameters are, where everything is on the one device of the options: so
/// that one program is compiled once, however its inputs are given.
void simplify_devices(Options& options, const Graph& graph);

/// Dispatches every recorded expression that somebody holds, on whichever device.
void evaluate_all();

/// How many operations would run for this one, shared ones counted once.
std::uint32_t count_recorded(const Recorded& recorded);

/// The memory of an array, once dispatched: `expression` is neither traced nor recorded afterwards.
/// A host scalar is put on `device`.
Buffer memory_of(const Array& array, const Device& device);

}  // namespace anabranch
