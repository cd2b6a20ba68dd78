// Which values of a graph depend on some of its parameters: those of a batch, or those that it is
// linear in.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// Per node and result: whether it depends on one of `parameters`, in loops and branches too.
std::vector<std::vector<bool>> dependent_values(const Graph& graph,
                                                const std::vector<bool>& parameters);
/// The same per output.
std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& parameters);

/// Which values a loop carries depend on one of `operands`, and whether its condition does. Where
/// that does, every carry that changes at all depends on them: the number of turns does.
struct DependentLoop {
  std::vector<bool> carried;
  bool condition = false;
};
DependentLoop dependent_loop(const Node& loop, const std::vector<bool>& operands);

}  // namespace anabranch
