#include "codegen/schedule/device_model.h"

#include <algorithm>

namespace anabranch {
namespace {

// Measured on a 2-core Zen 5: going on to the next step of a stream takes 60 ns; an event takes 0.5
// us where another worker is looking for work, and up to 10 us where one must be woken.
constexpr double core_step_ns = 60;
constexpr double core_event_ns = 2500;

std::size_t cores_used(const Launch& launch, std::size_t cores) {
  const HostTask* task = launch.one_task();
  if (!task) return 1;
  const std::int64_t ranges = task->extent / std::max<std::int64_t>(task->grain, 1);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(ranges, 1)), 1,
                                 cores);
}

// Of a loop or a branch that goes step by step: those of its largest step.
std::size_t multiprocessors_used(const Launch& launch, const cuda::GpuCosts& gpu) {
  if (const DeviceTask* task = launch.device_task()) {
    return static_cast<std::size_t>(gpu.multiprocessors(task->threads));
  }
  std::size_t most = 0;
  for (const auto& inner : inner_executables(launch)) {
    for (const Stream& stream : inner->streams) {
      for (const Step& step : stream) {
        const auto* part = std::get_if<Launch>(&step);
        if (part) most = std::max(most, multiprocessors_used(*part, gpu));
      }
    }
  }
  return most;
}

}  // namespace

DeviceModel::Share DeviceModel::share(const Launch& launch) const {
  if (gpu) return {multiprocessors_used(launch, *gpu), launch.predicted_ns};
  const std::size_t cores = cores_used(launch, static_cast<std::size_t>(units));
  return {cores, launch.predicted_ns / static_cast<double>(cores)};
}

DeviceModel model_of(const Device& device, const Options& options) {
  if (device.kind() == DeviceKind::cuda) {
    const auto gpu = cuda::GpuCosts::of(device.index());
    return {.units = gpu.facts().multiprocessors,
            .step_ns = cuda::launch_ns,
            .event_ns = cuda::event_ns,
            .apart_ns = cuda::round_trip_ns,
            .join_ns = cuda::event_ns,
            .most_streams = cuda::most_streams,
            .gpu = gpu};
  }
  const bool is_cpu = device.kind() == DeviceKind::cpu;
  return {.units = is_cpu ? cores(device).count : std::max(1, options.streams),
          .step_ns = core_step_ns,
          .event_ns = core_event_ns,
          .apart_ns = core_event_ns,
          .gpu = std::nullopt};
}

}  // namespace anabranch
