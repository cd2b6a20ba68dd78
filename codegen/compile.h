// The whole story: graph -> passes -> program of kernels -> streams -> code.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "anabranch/cost.h"
#include "anabranch/options.h"
#include "anabranch/stage.h"
#include "codegen/schedule/reschedule.h"
#include "ir/graph/graph.h"
#include "passes/pass.h"
#include "runtime/executor/executable.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

/// Everything between a traced graph and its executable, kept for dumps.
struct Compilation {
  Graph traced;
  Graph optimized;                  ///< after the passes: fusions, dots, constants
  std::vector<std::string> notes;   ///< fusions refused, and why
  std::size_t planned_members = 0;  ///< nodes of all groups that fusion planned, tried ones too
  Runnable first;                   ///< as scheduled from counted costs
  std::shared_ptr<Reschedule> reschedule;  ///< null where measured times would change nothing
  Options options;

  const Program& program() const { return first.executable->program; }
  const LinkedCode& code() const { return *first.executable->code; }
};

/// What the next run of a compilation should run: its executable, or, once the first runs of that
/// have been measured, one that is scheduled by their times.
Runnable current(const Compilation& compilation);

/// Runs that: see run.h.
std::vector<Buffer> run(const Compilation& compilation, std::vector<Buffer> inputs);

/// Called after each pass, over the graph, a kernel or the program.
using PassObserver = std::function<void(const PassResult&)>;

/// Throws Error where the device does not exist, or where a pass that is to be left out does not.
Compilation compile(const Graph& graph, const Options& options = {},
                    const PassObserver& after = {});

/// The graph after all graph passes, each of its nodes on a device. Throws Error where one does not
/// exist.
PlacedGraph optimize(const Graph& graph, const Options& options, PassContext& context,
                     const PassRun& run);

/// The text of one stage. `optimized` ends with the refused fusions.
std::string dump(const Compilation& compilation, Stage stage);

/// The picture of one stage, as Graphviz DOT. Throws Error for a stage other than `trace`,
/// `optimized` and `schedule`.
std::string to_dot(const Compilation& compilation, Stage stage);

ProgramCost cost(const Compilation& compilation);
ProgramMemory memory(const Compilation& compilation);

}  // namespace anabranch
