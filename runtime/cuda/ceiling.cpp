#include "runtime/device/ceiling.h"

namespace anabranch {

Ceiling ceiling_of(const cuda::GpuFacts& gpu) {
  constexpr double ns_per_second = 1e9;
  const auto operations = [&](Dtype dtype) {
    const double multiply_adds =
        cuda::results_per_cycle(gpu.architecture, dtype) * gpu.multiprocessors * gpu.cycles_per_ns;
    return 2 * multiply_adds * ns_per_second;
  };
  return {gpu.bytes_per_ns * ns_per_second, operations(f32), operations(f64)};
}

}  // namespace anabranch
