// ExecutionState: what the runs of an executable change.
#pragma once

#include <memory>

#include "runtime/executor/executable.h"
#include "runtime/executor/graph_cache.h"
#include "runtime/executor/launch_times.h"

namespace anabranch {

/// Whoever keeps an executable to run it again keeps this beside it. Thread-safe.
struct ExecutionState {
  std::unique_ptr<LaunchTimes>
      times;  ///< for the first runs to fill; null where none are asked for
  std::unique_ptr<GraphCache>
      graph_cache;  ///< what a device captured; null where it captures nothing

  /// `measures`: whether the times of its steps are asked for. Null where nothing would change.
  static std::shared_ptr<ExecutionState> of(const Executable& executable, bool measures);
};

}  // namespace anabranch
