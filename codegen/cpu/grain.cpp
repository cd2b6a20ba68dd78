#include "codegen/cpu/grain.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/kernel_time.h"

namespace anabranch {
namespace {

// Waking a thread and waiting for it costs a few microseconds.
constexpr double least_ns_per_thread = 20'000;

}  // namespace

std::int64_t grain(const Kernel& kernel, double cached) {
  const std::int64_t extent = kernel.extent();
  const double total = cpu::kernel_ns(kernel, cached);
  if (extent <= 1 || total < 2 * least_ns_per_thread) return std::max<std::int64_t>(extent, 1);
  const double iterations = std::ceil(static_cast<double>(extent) * least_ns_per_thread / total);
  const std::int64_t of = cut(kernel);
  const std::int64_t least = (static_cast<std::int64_t>(iterations) + of - 1) / of * of;
  return std::min(least, extent);
}

// Between cache lines of any dtype's vectors.
std::int64_t cut(const Kernel& kernel) {
  const Loop* loop = kernel.parallel_loop();
  return loop && loop->vector_width > 1 ? 64 : 1;
}

}  // namespace anabranch
