// A program that is scheduled again once its steps have been measured.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "anabranch/options.h"
#include "runtime/executor/executable.h"
#include "runtime/executor/execution_state.h"

namespace anabranch {

/// What to run, and what changes while it runs.
struct Runnable {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<ExecutionState> state;
};

/// Both schedules run the same code on the same values, so results are the same bits. Several
/// threads may use it at once.
class Reschedule {
 public:
  /// `first` is scheduled from counted costs; its runs fill `first.state->times`.
  Reschedule(Runnable first, Options options);

  /// What the next run should run: `first` until enough runs have been measured, from then on the
  /// schedule made from their times. The call that finds them complete makes it.
  Runnable current();

 private:
  std::mutex scheduling_;
  const Runnable first_;
  const Options options_;
  Runnable second_;  // written before `settled_`, never after
  std::atomic<bool> settled_ = false;
};

}  // namespace anabranch
