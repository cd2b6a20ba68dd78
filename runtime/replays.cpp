#include "runtime/replays.h"

#include <algorithm>
#include <variant>

#include "runtime/executable.h"

namespace anabranch {
namespace {

// One launch of a graph takes the host about as long as two of kernels.
constexpr std::size_t least_launches = 3;
// A loop that keeps k results of a program has its slots in about k + 1 sets of places.
constexpr std::size_t most_runs = 16;

bool is_for_device(const Step& step) {
  const auto* launch = std::get_if<Launch>(&step);
  return !launch || std::holds_alternative<DeviceTask>(launch->task);
}

}  // namespace

std::shared_ptr<Replays> Replays::of(const Executable& executable) {
  if (!executable.further.empty()) return nullptr;
  std::size_t launches = 0;
  for (const Stream& stream : executable.streams) {
    if (!std::ranges::all_of(stream, is_for_device)) return nullptr;
    launches += static_cast<std::size_t>(std::ranges::count_if(
        stream, [](const Step& step) { return std::holds_alternative<Launch>(step); }));
  }
  return launches < least_launches ? nullptr : std::make_shared<Replays>();
}

// What is found comes to the front.
std::list<Replays::Run>::iterator Replays::find_locked(std::span<void* const> slots) {
  const auto found = std::ranges::find_if(
      runs_, [&](const Run& run) { return std::ranges::equal(run.slots, slots); });
  if (found != runs_.end()) runs_.splice(runs_.begin(), runs_, found);
  return found;
}

std::shared_ptr<const CapturedWork> Replays::find(std::span<void* const> slots) {
  std::lock_guard lock(mutex_);
  const auto found = find_locked(slots);
  return found == runs_.end() ? nullptr : found->work;
}

bool Replays::is_due(std::span<void* const> slots) {
  std::lock_guard lock(mutex_);
  if (find_locked(slots) != runs_.end()) return true;
  runs_.push_front({{slots.begin(), slots.end()}, nullptr});
  if (runs_.size() > most_runs) runs_.pop_back();
  return false;
}

void Replays::keep(std::span<void* const> slots, std::shared_ptr<const CapturedWork> work) {
  std::lock_guard lock(mutex_);
  const auto found = find_locked(slots);
  if (found != runs_.end()) found->work = std::move(work);
}

}  // namespace anabranch
