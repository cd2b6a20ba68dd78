// The plan of a fusion (fusion_plan.h), or why there is none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/fusion_plan.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// So many columns, at most, that are computed differently a kernel writes one by one, what they
/// share being computed once a row (codegen/cpu/unroll_columns.h); a plan counts on it.
inline constexpr std::int64_t most_columns = 32;

/// The plan of a region (parameters, then the group), or in words why it cannot be one kernel
/// ("reduces over axes [0] and [1]"). Never throws on a verified region.
std::variant<FusionPlan, std::string> plan_fusion(const Graph& region);

/// The same for some nodes of a larger graph, as if they were a region: `members` ascending,
/// whatever else they read being operands, and `outputs` among their results. `stage` is per
/// member.
std::variant<FusionPlan, std::string> plan_fusion(const Graph& graph,
                                                  std::span<const std::uint32_t> members,
                                                  std::span<const Value> outputs);

/// The updates of a region's plan.
std::vector<BlockUpdate> block_updates(const Graph& region);

}  // namespace anabranch
