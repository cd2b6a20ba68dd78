// DeviceTimes: when the steps ran that were enqueued on the streams of devices which work by
// themselves.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "anabranch/timeline.h"
#include "ir/program/program.h"
#include "runtime/device/stream_executor.h"
#include "runtime/executor/launch_times.h"

namespace anabranch::executor {

/// A step on a stream, between two events.
struct EnqueuedStep {
  timeline::Track track;
  std::string name;
  timeline::Category category{};
  timeline::Details details;
  StepId id = 0;
  LaunchTimes* times = nullptr;  ///< where its time goes; null where none is asked for
  std::shared_ptr<const TimingEvent> begin, end;
};

/// Collects the steps of one execution. Thread-safe.
class DeviceTimes {
 public:
  void add(EnqueuedStep step);
  /// Tells the timeline, and the launch times, when each step ran. All of them must be past.
  void report();

 private:
  std::mutex mutex_;
  std::vector<EnqueuedStep> steps_;
};

}  // namespace anabranch::executor
