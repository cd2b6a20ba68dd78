// When the steps ran that were put on the queues of devices which work by themselves.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "runtime/device/engine.h"
#include "runtime/executor/launch_times.h"
#include "runtime/timeline/timeline.h"

namespace anabranch::executor {

/// A step on a queue, between two marks.
struct QueuedStep {
  timeline::Track track;
  std::string name;
  timeline::Category category{};
  timeline::Details details;
  StepId id = 0;
  LaunchTimes* times = nullptr;  ///< where its time goes; null where nobody asks
  std::shared_ptr<const TimeMark> begin, end;
};

/// Collects the steps of one execution. Thread-safe.
class QueueTimes {
 public:
  void add(QueuedStep step);
  /// Tells the timeline, and the launch times, when each step ran. All of them must be past.
  void report();

 private:
  std::mutex mutex_;
  std::vector<QueuedStep> steps_;
};

}  // namespace anabranch::executor
