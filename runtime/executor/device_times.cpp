#include "runtime/executor/device_times.h"

#include <utility>

#include "anabranch/error.h"
#include "runtime/timeline/record.h"

namespace anabranch::executor {

void DeviceTimes::add(EnqueuedStep step) {
  std::lock_guard lock(mutex_);
  steps_.push_back(std::move(step));
}

void DeviceTimes::report() {
  std::lock_guard lock(mutex_);
  for (const EnqueuedStep& step : std::exchange(steps_, {})) {
    try {
      const auto begin = step.begin->time(), end = step.end->time();
      if (step.times) step.times->add(step.id, end - begin);
      if (timeline::recording()) {
        timeline::add(step.track, step.name, step.category, begin, end, step.details);
      }
    } catch (const Error&) {
      return;  // the device has failed, as the results say
    }
  }
}

}  // namespace anabranch::executor
