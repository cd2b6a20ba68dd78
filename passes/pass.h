// Passes over graphs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/verify.h"
#include "ir/program/steps.h"
#include "ir/text/print.h"
#include "passes/driver.h"
#include "passes/placement.h"
#include "passes/row_blocks/block_costs.h"

namespace anabranch {

template <>
inline constexpr std::string_view form_name<Graph> = "graph";

/// What a pass may look at and what it may leave behind.
struct PassContext {
  bool fast_math = false;
  std::vector<std::string> notes = {};  ///< "fuse: %5 and %9 stay apart: ..."
  std::size_t planned_members = 0;      ///< nodes of all groups that fusion planned
  Device home = {};                     ///< for placement, as in `place`
  ParameterDevices parameters = {};
  /// Whether the backends have a step for it; `expand` writes it as other ops where not.
  std::function<bool(const ConvolutionStep&)> takes = {};
  /// Whether threads that each follow a row of an array, an element a turn, read it as fast as
  /// threads that read a row together; none do where that is not said.
  std::function<bool()> follows_rows = {};
  /// What blocks of rows cost and save where the graph runs; where there is none nothing is
  /// blocked.
  std::function<BlockCosts()> block_costs = {};
  /// Called with the equation of each rule that replaces a node; tests count what is reached.
  std::function<void(std::string_view equation)> applied = {};
};

using Pass = PassOf<Graph, PassContext>;

using Pipeline = std::span<const Pass>;

/// Every pass there is, by name.
std::span<const Pass> all_passes();
/// Throws Error, naming the passes there are, if there is none of that name.
const Pass& find_pass(std::string_view name);

inline Graph run_passes(Pipeline pipeline, Graph graph, PassContext& context,
                        const PassRun& options = {}) {
  return run_list(pipeline, std::move(graph), context, options);
}

}  // namespace anabranch
