#include "codegen/schedule/reschedule.h"

#include <utility>

#include "codegen/schedule/schedule.h"

namespace anabranch {

Reschedule::Reschedule(Runnable first, Options options)
    : first_(std::move(first)), options_(std::move(options)) {}

Runnable Reschedule::current() {
  if (settled_.load(std::memory_order_acquire)) return second_;
  if (!first_.state->times->complete()) return first_;
  // No thread waits for the one that is at it.
  std::unique_lock lock(scheduling_, std::try_to_lock);
  if (!lock) return first_;
  if (!settled_.load(std::memory_order_relaxed)) {
    Schedule made = schedule(first_.executable->program, options_, first_.state->times.get());
    second_.executable = std::make_shared<const Executable>(
        Executable{std::move(made.program), first_.executable->code});
    second_.state = ExecutionState::of(*second_.executable, false);
    settled_.store(true, std::memory_order_release);
  }
  return second_;
}

}  // namespace anabranch
