// Pass: a function from graph to graph, and the driver that runs a list of them.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/placement.h"

namespace anabranch {

/// What a pass may look at and what it may leave behind.
struct PassContext {
  bool fast_math = false;
  std::vector<std::string> notes = {};  ///< "fuse: %5 and %9 stay apart: ..."
  std::size_t planned_members = 0;      ///< nodes of all groups that fusion planned
  Device home = {};                     ///< for placement, as in `place`
  ParameterDevices parameters = {};
  /// Called with the equation of each rule that replaces a node; tests count what is reached.
  std::function<void(std::string_view equation)> applied = {};
};

struct Pass {
  std::string_view name;
  std::string_view help;
  Graph (*run)(const Graph& graph, PassContext& context);
  bool refuses = false;  ///< throws Error where the graph is the user's to mend
};

using Pipeline = std::span<const Pass>;

/// Every pass there is, by name.
std::span<const Pass> all_passes();
/// Throws Error, naming the passes there are, if there is none of that name.
const Pass& find_pass(std::string_view name);

struct PassRun {
  bool verify = false;                    ///< check after every pass (always in debug builds)
  std::span<const std::string> disabled;  ///< left out, by name
  /// Called after each pass, for dumps and timelines.
  std::function<void(const Pass&, const Graph& after, std::chrono::nanoseconds)> after;
};

/// Runs `pipeline` in order. A pass that breaks the graph gives InternalError naming it.
Graph run_passes(Pipeline pipeline, Graph graph, PassContext& context, const PassRun& options = {});

}  // namespace anabranch
