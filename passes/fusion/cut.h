// Where to cut a group that is too large for one kernel: between two of its nodes, in their order,
// where the fewest bytes cross.
//
//   %1 = add %0, %0
//   %2 = sine %1
//   -----------------   %2 crosses: stored by the first part, read by the second
//   %3 = add %2, %1     (%1 is computed again: it costs less than to store it)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "passes/fusion/groups.h"

namespace anabranch {

/// What cutting looks at beyond the group itself.
struct CutLimits {
  std::function<bool(std::uint32_t node)> owns;       ///< no copy: one part alone computes it
  std::function<bool(std::uint32_t node)> is_stored;  ///< in memory wherever the cut is
  std::int64_t least = 0, most = 0;  ///< instructions of the members before the cut
};

/// Numbers of members before the cut, the best first: few, and apart from each other. Bytes that
/// cross are values that both parts need, less those that the later one computes again cheaply.
std::vector<std::size_t> cheapest_cuts(const Graph& graph, const FusionGroup& group,
                                       const CutLimits& limits);

}  // namespace anabranch
