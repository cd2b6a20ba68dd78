#include "codegen/cuda/gpu_costs.h"

#include <algorithm>

#include "codegen/cuda/dot/products.h"
#include "runtime/cuda/gpus.h"

namespace anabranch::cuda {
namespace {

// Each way, of the result that one multiprocessor computes at a time: cuBLAS's usual size ("Matrix
// Multiplication Background User's Guide", NVIDIA).
constexpr std::int64_t tile = 128;

std::int64_t tiles(std::int64_t size) { return (size + tile - 1) / tile; }

// The slowest units that it needs. What indices take is not counted in its cost.
Dtype computes_in(const Kernel& kernel) {
  Dtype slowest = i32;
  for (const Instruction& instruction : kernel.instructions) {
    if (instruction.dtype == f64) return f64;
    if (is_float(instruction.dtype)) slowest = f32;
  }
  return slowest;
}

}  // namespace

GpuCosts GpuCosts::of(int gpu) { return GpuCosts(gpu_facts(gpu)); }

int GpuCosts::multiprocessors(std::int64_t threads) const {
  const std::int64_t full = (threads + facts_.threads - 1) / facts_.threads;
  return static_cast<int>(std::clamp<std::int64_t>(full, 1, facts_.multiprocessors));
}

double GpuCosts::ns(const Cost& cost, double operations_per_cycle, std::int64_t threads) const {
  const double mine = multiprocessors(threads);
  const double bytes_per_ns = facts_.bytes_per_ns * mine / facts_.multiprocessors;
  const double operations_per_ns = operations_per_cycle * facts_.cycles_per_ns * mine;
  return std::max(static_cast<double>(cost.bytes_read + cost.bytes_written) / bytes_per_ns,
                  static_cast<double>(cost.operations) / operations_per_ns);
}

double GpuCosts::ns(const Kernel& kernel, std::int64_t threads) const {
  return ns(kernel.cost, results_per_cycle(facts_.architecture, computes_in(kernel)), threads);
}

// A multiply-add counts as two operations.
double GpuCosts::ns(const DotStep& dot, const Cost& cost) const {
  const double results = dot_results_per_cycle(facts_.architecture, dot.lhs.dtype, dot.tf32);
  return ns(cost, 2 * results, threads(dot));
}

double GpuCosts::copy_ns(std::int64_t bytes, std::int64_t threads) const {
  return ns({bytes, bytes, 0}, 1, threads);
}

std::int64_t GpuCosts::threads(const DotStep& dot) const {
  const auto products = dot_products(dot.lhs, dot.rhs, dot.attributes);
  if (!products) return facts_.threads;
  return tiles(products->rows) * tiles(products->columns) * products->batch * facts_.threads;
}

}  // namespace anabranch::cuda
