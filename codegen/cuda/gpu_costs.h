// What steps take on a GPU, from what is known of it and from counted bytes and operations.
#pragma once

#include <cstdint>

#include "ir/kernel/kernel.h"
#include "ir/program/steps.h"
#include "runtime/cuda/gpu_facts.h"

namespace anabranch::cuda {

/// From the end of a kernel to the beginning of the next one on its stream, and what a host that
/// waits for each kernel loses on top of the kernel's own time: 3.8 and 9.6 us a kernel of 2.9 us,
/// by "Getting Started with CUDA Graphs" on NVIDIA's Technical Blog (2019), on a V100.
inline constexpr double launch_ns = 900;
inline constexpr double round_trip_ns = 6700;
/// One stream waits for another: nothing is published, so it is taken as a step more on each.
inline constexpr double event_ns = 2 * launch_ns;
/// The queues between host and GPU, unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise (CUDA C++
/// Programming Guide): with more streams, some wait for each other without need.
inline constexpr int most_streams = 8;
/// Between host and GPU: PCIe 4.0 on 16 lanes.
inline constexpr double host_bytes_per_ns = 32;

/// Times are those of a step that has the GPU to itself, in ns, without `launch_ns`: the longer
/// of what its bytes and its operations take. A step with too few threads to fill the GPU gets
/// only as much of either as the multiprocessors have that it does fill.
class GpuCosts {
 public:
  explicit GpuCosts(const GpuFacts& facts) : facts_(facts) {}
  /// Of the GPU of that index.
  static GpuCosts of(int gpu);

  const GpuFacts& facts() const { return facts_; }
  /// How many multiprocessors so many threads fill: one at least.
  int multiprocessors(std::int64_t threads) const;

  double ns(const Kernel& kernel, std::int64_t threads) const;
  double ns(const DotStep& dot, const Cost& cost) const;
  double copy_ns(std::int64_t bytes, std::int64_t threads) const;

  /// For Step::parallelism: all that a multiprocessor holds for each tile of the result.
  std::int64_t threads(const DotStep& dot) const;

 private:
  double ns(const Cost& cost, double operations_per_cycle, std::int64_t threads) const;

  GpuFacts facts_;
};

}  // namespace anabranch::cuda
