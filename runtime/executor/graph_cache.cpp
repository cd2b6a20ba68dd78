#include "runtime/executor/graph_cache.h"

#include <algorithm>
#include <optional>

#include "runtime/executor/executable.h"

namespace anabranch {
namespace {

// One launch of a graph takes the host about as long as two of kernels.
constexpr std::size_t least_launches = 3;
// A loop that keeps k results of a program has its slots in about k + 1 sets of places.
constexpr std::size_t most_runs = 16;

// A capture takes some hundred microseconds, a read from ten to thirty, so that this many cost
// about as much. Until then nothing is lost that the captures of all later runs could not bring
// back.
constexpr std::size_t many_reads = 32;

/// Launches that the device can go through alone, counted for what they are worth; none where it
/// cannot.
std::optional<std::size_t> launches_alone(const LinkedCode& code);

std::optional<std::size_t> launches_alone(const LinkedStep& step) {
  if (step.device_task()) return 1;
  if (!step.conditional.enqueue) return std::nullopt;
  for (const LinkedCode& region : step.regions) {
    if (!launches_alone(region)) return std::nullopt;
  }
  return least_launches;
}

std::optional<std::size_t> launches_alone(const LinkedCode& code) {
  std::size_t sum = 0;
  for (const LinkedStep& step : code.steps) {
    const std::optional<std::size_t> count = launches_alone(step);
    if (!count) return std::nullopt;
    sum += *count;
  }
  return sum;
}

}  // namespace

std::unique_ptr<GraphCache> GraphCache::of(const Executable& executable) {
  if (executable.program.devices.size() > 1) return nullptr;
  const std::optional<std::size_t> launches = launches_alone(*executable.code);
  return launches.value_or(0) < least_launches ? nullptr : std::make_unique<GraphCache>();
}

// What is found comes to the front.
std::list<GraphCache::Run>::iterator GraphCache::find_locked(std::span<void* const> slots) {
  const auto found = std::ranges::find_if(
      runs_, [&](const Run& run) { return std::ranges::equal(run.slots, slots); });
  if (found != runs_.end()) runs_.splice(runs_.begin(), runs_, found);
  return found;
}

std::shared_ptr<const CapturedGraph> GraphCache::find(std::span<void* const> slots) {
  std::lock_guard lock(mutex_);
  const auto found = find_locked(slots);
  return found == runs_.end() ? nullptr : found->graph;
}

bool GraphCache::is_due(std::span<void* const> slots) {
  std::lock_guard lock(mutex_);
  if (given_up_) return false;
  if (find_locked(slots) != runs_.end()) return true;
  runs_.push_front({{slots.begin(), slots.end()}, nullptr});
  if (runs_.size() > most_runs) runs_.pop_back();
  return is_due_at_once_;
}

void GraphCache::keep(std::span<void* const> slots, std::shared_ptr<const CapturedGraph> graph) {
  std::lock_guard lock(mutex_);
  const auto found = find_locked(slots);
  if (found != runs_.end()) found->graph = std::move(graph);
}

void GraphCache::went_stepwise(std::size_t reads) {
  if (reads < many_reads) return;
  std::lock_guard lock(mutex_);
  is_due_at_once_ = true;
}

void GraphCache::give_up() {
  std::lock_guard lock(mutex_);
  given_up_ = true;
}

}  // namespace anabranch
