#include "runtime/executor/execution_state.h"

#include <utility>

namespace anabranch {

std::shared_ptr<ExecutionState> ExecutionState::of(const Executable& executable, bool measures) {
  auto graph_cache = GraphCache::of(executable);
  if (!measures && !graph_cache) return nullptr;
  auto state = std::make_shared<ExecutionState>();
  if (measures) state->times = std::make_unique<LaunchTimes>(executable.program.steps.size());
  state->graph_cache = std::move(graph_cache);
  return state;
}

}  // namespace anabranch
