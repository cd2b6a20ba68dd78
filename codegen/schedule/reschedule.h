// A program that is scheduled again once its launches have been measured.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "codegen/options.h"
#include "codegen/schedule/schedule.h"

namespace anabranch {

/// Both schedules run the same kernels on the same values, so results are the same bits. Several
/// threads may use it at once.
class Reschedule {
 public:
  /// `first` is the schedule of `program` from counted costs; its runs fill `first->times`.
  Reschedule(Program program, Options options, std::shared_ptr<const Executable> first);

  /// What the next run should run: `first` until enough runs have been measured, from then on the
  /// schedule made from their times. The call that finds them complete makes it.
  std::shared_ptr<const Executable> current();

 private:
  std::mutex scheduling_;
  Program program_;
  const Options options_;
  const std::shared_ptr<const Executable> first_;
  std::shared_ptr<const Executable> second_;  // written before `settled_`, never after
  std::atomic<bool> settled_ = false;
};

}  // namespace anabranch
