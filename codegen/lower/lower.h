// Lowering: one fusion to the loop nests that compute it.
#pragma once

#include <span>
#include <string>

#include "codegen/lower/lower_target.h"
#include "codegen/lower/lowered.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// `node` is a node of op `fusion` or a `dot` that no library takes, of operands of these types.
/// The loops are canonical (no vector widths yet); kernel passes decide how they run. In
/// which order a reduction adds up depends on shapes and `target.column_sums` alone, never on the
/// machine. Throws
/// InternalError if `plan_fusion` refuses the region.
Lowered lower(const Node& node, std::span<const Type> operands, const std::string& name,
              const LowerTarget& target = {});

}  // namespace anabranch
