// Lowering of dynamic_update_slice: a loop over the block alone, not over the whole array.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "codegen/lower/lowered.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// Which parameter of `region` is the array that it updates, if the region is one
/// dynamic_update_slice of parameters.
std::optional<std::size_t> updated_parameter(const Graph& region);

/// A kernel that writes the block to its output and nothing else: the caller sees to it that the
/// rest of the array is there.
Lowered lower_update(const Graph& region, const std::string& name);

}  // namespace anabranch
