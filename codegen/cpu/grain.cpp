#include "codegen/cpu/grain.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/kernel_time.h"

namespace anabranch {
namespace {

// Waking a thread and waiting for it costs a few microseconds.
constexpr double least_ns_per_thread = 20'000;
// Cuts fall between cache lines of any dtype's vectors.
constexpr std::int64_t iterations_per_cut = 64;

}  // namespace

std::int64_t grain(const Kernel& kernel) {
  const std::int64_t extent = kernel.extent();
  const double total = cpu::kernel_ns(kernel);
  if (extent <= 1 || total < 2 * least_ns_per_thread) return std::max<std::int64_t>(extent, 1);
  const double iterations = std::ceil(static_cast<double>(extent) * least_ns_per_thread / total);
  auto least = static_cast<std::int64_t>(iterations);
  const Loop* loop = kernel.parallel_loop();
  if (loop->vector_width > 1) {
    least = (least + iterations_per_cut - 1) / iterations_per_cut * iterations_per_cut;
  }
  return std::min(least, extent);
}

}  // namespace anabranch
