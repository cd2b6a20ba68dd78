// dce: drops what no output needs. Parameters stay, used or not.
//
//   %1: f32[8] = exponential %0
//   %2: f32[8] = tanh %0            ->    %1: f32[8] = tanh %0
//   return %2                             return %1
#pragma once

#include <cstdint>
#include <span>

#include "passes/pass.h"

namespace anabranch {

/// `graph` without its dead nodes, in regions too but for those of fusions; loops without carried
/// values, and branches without results and operands, that nothing needs.
Graph dce(const Graph& graph, PassContext& context);

/// The same of `graph` with only these of its outputs.
Graph dce(const Graph& graph, std::span<const std::uint32_t> outputs);

/// The same for `graph`'s own nodes, its regions left as they are.
Graph without_dead_nodes(const Graph& graph);

}  // namespace anabranch
