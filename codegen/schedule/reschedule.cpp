#include "codegen/schedule/reschedule.h"

#include <utility>

#include "runtime/executor/launch_times.h"

namespace anabranch {

Reschedule::Reschedule(Program program, Options options, std::shared_ptr<const Executable> first)
    : program_(std::move(program)), options_(std::move(options)), first_(std::move(first)) {}

std::shared_ptr<const Executable> Reschedule::current() {
  if (settled_.load(std::memory_order_acquire)) return second_;
  if (!first_->times->complete()) return first_;
  // Nobody waits for whoever is at it.
  std::unique_lock lock(scheduling_, std::try_to_lock);
  if (!lock) return first_;
  if (!settled_.load(std::memory_order_relaxed)) {
    second_ = std::make_shared<const Executable>(
        schedule(std::exchange(program_, {}), options_, first_->times.get()));
    settled_.store(true, std::memory_order_release);
  }
  return second_;
}

}  // namespace anabranch
