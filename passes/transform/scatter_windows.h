// What the rules of gather and scatter share: the windows that updates meet.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/attributes.h"
#include "passes/transform/quantity.h"

namespace anabranch {

/// Index vectors with component k held between low[k] and high[k].
Quantity held(Quantity indices, std::int64_t index_vector_axis,
              const std::vector<std::int64_t>& low, const std::vector<std::int64_t>& high);

/// The windows of `from`, of the shape of a scatter's operand, that updates of the type meet; 0
/// where an update is left out.
Quantity windows_met(GraphBuilder& graph, const ScatterAttributes& a, Quantity from,
                     Quantity indices, const Type& updates);

/// A scatter with another combiner.
Quantity scattered(GraphBuilder& graph, ScatterAttributes a, ScatterCombiner combiner, Quantity to,
                   Quantity indices, Quantity updates);

}  // namespace anabranch
