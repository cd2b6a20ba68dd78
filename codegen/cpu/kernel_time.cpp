#include "codegen/cpu/kernel_time.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "ir/fusion_plan.h"

namespace anabranch::cpu {
namespace {

// Of instructions, be they of scalars or of vectors: two or three start in a cycle, and loads,
// stores and waits for results take what is left of it.
constexpr double instructions_per_ns = 4;
constexpr double cached_bytes_per_ns = 30, bytes_per_ns = 10;
constexpr double most_cached_bytes = 1 << 20;

// Of vectors of f32 and of f64, as docs/benchmarks.md has them: where the units that divide are
// what is waited for, those of f64 count for more.
struct Instructions {
  double f32 = 1, f64 = 1;
};
Instructions instructions_of(Op op) {
  switch (op) {
    case Op::divide:
      return {5, 12};
    case Op::sqrt:
      return {8, 9};
    case Op::rsqrt:
      return {17, 25};
    case Op::power:
      return {88, 95};
    case Op::remainder:
      return {800, 400};  // an element at a time
    case Op::asinh:
    case Op::acosh:
      return {32, 57};
    case Op::erf:
      return {19, 55};
    case Op::erf_inv:
      return {44, 140};
    default:
      break;
  }
  if (!info(op).has(OpInfo::approximate)) {
    const double plain = operations_per_element(op);
    return {plain, plain};
  }
  return {11, 20};
}

double instructions_of(Op op, Dtype dtype) {
  if (!is_float(dtype)) return operations_per_element(op);
  const Instructions instructions = instructions_of(op);
  return dtype == f64 ? instructions.f64 : instructions.f32;
}

class Counter {
 public:
  explicit Counter(const Kernel& kernel) : kernel_(kernel), places_(placing_scalars(kernel)) {
    visit(kernel.body, 1);
  }

  double instructions() const { return instructions_; }

 private:
  void visit(const Block& block, double times) {
    for (Ref ref : block) visit(ref, times);
  }

  void visit(Ref ref, double times) {
    const Operation& operation = kernel_[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      if (!places_[ref.index])
        instructions_ += times * instructions_of(compute->op, kernel_[ref].dtype);
    } else if (const auto* loop = std::get_if<Loop>(&operation)) {
      const double turns = times * static_cast<double>(loop->usual_turns()) / loop->vector_width;
      visit(loop->body, turns);
      for (const Reduction& reduction : loop->reductions) {
        if (!runs_in_order(reduction.combine)) instructions_ += turns;
      }
    }
  }

  const Kernel& kernel_;
  const std::vector<bool> places_;
  double instructions_ = 0;
};

}  // namespace

// In a cache that is fuller than by three quarters, what a kernel reads and what it writes push
// each other out.
double cached_bytes(std::span<const Kernel> kernels) {
  const std::int64_t own = own_cache_bytes();
  if (kernels.size() != 1 || own == 0) return most_cached_bytes;
  return std::min(0.75 * static_cast<double>(own), most_cached_bytes);
}

std::int64_t own_cache_bytes() {
  static const long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return std::max(second_level, 0L);
}

std::int64_t kept_bytes() {
  static const long third_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max<std::int64_t>(16 << 20, third_level / 2);
}

double kernel_ns(const Kernel& kernel, double cached) {
  const auto bytes = static_cast<double>(kernel.cost.bytes_read + kernel.cost.bytes_written);
  const double memory_ns = bytes / (bytes <= cached ? cached_bytes_per_ns : bytes_per_ns);
  return std::max(memory_ns, Counter(kernel).instructions() / instructions_per_ns);
}

}  // namespace anabranch::cpu
