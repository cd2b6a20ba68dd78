// Lowering: one fusion to the loop nests that compute it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "codegen/lower/lowered.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// How the columns of a matrix are summed: each as a whole or, where it has at least so many bytes,
/// in chunks of rows, so that it is read along its rows as suits the prefetchers of a core.
struct ColumnSums {
  std::int64_t least_chunked_bytes = std::numeric_limits<std::int64_t>::max();
};

/// `node` is a node of op `fusion` or a `dot` that no library takes, of operands of these types.
/// The loops are canonical (no vector widths yet); kernel passes decide how they run. How a
/// reduction is split depends on shapes and `columns` alone, never on the machine. Throws
/// InternalError if `plan_fusion` refuses the region.
Lowered lower(const Node& node, std::span<const Type> operands, const std::string& name,
              ColumnSums columns = {});

}  // namespace anabranch
