#include "runtime/device/ceiling.h"

namespace anabranch {

Ceiling ceiling_of(const cuda::GpuFacts& gpu) {
  constexpr double ns_per_second = 1e9;
  const double multiply_adds =
      cuda::results_per_cycle(gpu.architecture, f32) * gpu.multiprocessors * gpu.cycles_per_ns;
  return {gpu.bytes_per_ns * ns_per_second, 2 * multiply_adds * ns_per_second};
}

}  // namespace anabranch
