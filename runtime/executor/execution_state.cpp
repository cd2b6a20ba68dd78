#include "runtime/executor/execution_state.h"

#include <utility>

namespace anabranch {

std::shared_ptr<ExecutionState> ExecutionState::of(const Executable& executable, bool measures) {
  auto replays = Replays::of(executable);
  if (!measures && !replays) return nullptr;
  auto state = std::make_shared<ExecutionState>();
  if (measures) state->times = std::make_unique<LaunchTimes>(executable.program.steps.size());
  state->replays = std::move(replays);
  return state;
}

}  // namespace anabranch
