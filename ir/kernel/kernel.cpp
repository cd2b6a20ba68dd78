#include "ir/kernel/kernel.h"

#include <algorithm>

namespace anabranch {
namespace {

// How every value inside a loop changes from one of its iterations to the next: by that number, or
// unpredictably. Found in one walk of the body, in the order in which it runs.
class Steps {
 public:
  Steps(const Kernel& kernel, Ref loop_index)
      : kernel_(kernel), loop_index_(loop_index), steps_(kernel.instructions.size(), 0) {
    // What is defined outside the loop does not change in it: its step stays 0.
    for (const Instruction& instruction : kernel.instructions) {
      const auto* loop = std::get_if<Loop>(&instruction.operation);
      if (loop && loop->index == loop_index) body_of(*loop);
    }
  }

  std::optional<std::int64_t> operator[](Ref ref) const { return steps_[ref.index]; }

 private:
  void body_of(const Loop& loop) {
    steps_[loop.index.index] = loop.index == loop_index_ ? 1 : 0;
    block(loop.body);
    for (const Reduction& reduction : loop.reductions) {
      for (Ref argument : reduction.so_far) steps_[argument.index].reset();
      for (Ref argument : reduction.next) steps_[argument.index].reset();
      block(reduction.body);
    }
  }

  void block(const Block& block) {
    for (Ref ref : block) {
      const Operation& operation = kernel_[ref].operation;
      if (auto* compute = std::get_if<Compute>(&operation)) {
        steps_[ref.index] = step_of(*compute);
      } else if (auto* load = std::get_if<Load>(&operation)) {
        if (!is_uniform(*load)) steps_[ref.index].reset();
      } else if (auto* loop = std::get_if<Loop>(&operation)) {
        body_of(*loop);
        results_of(*loop);
      }
    }
  }

  // A fold of values that do not change does not change either. Those of a general body are not
  // traced.
  void results_of(const Loop& loop) {
    for (const Reduction& reduction : loop.reductions) {
      auto uniform = [&](Ref ref) { return steps_[ref.index] == 0; };
      const bool traced =
          reduction.combine != Combine::general &&
          std::all_of(reduction.initial.begin(), reduction.initial.end(), uniform) &&
          std::all_of(reduction.values.begin(), reduction.values.end(), uniform);
      for (Ref result : reduction.results) {
        if (!traced) steps_[result.index].reset();
      }
    }
  }

  // Other memory may be written between the iterations.
  bool is_uniform(const Load& load) const {
    return kernel_.buffers[load.buffer].access == Access::read && steps_[load.index.index] == 0 &&
           (!load.mask || steps_[load.mask.index] == 0);
  }

  std::optional<std::int64_t> constant(Ref ref) const {
    const auto* constant = std::get_if<ConstantInstruction>(&kernel_[ref].operation);
    if (!constant) return std::nullopt;
    return static_cast<std::int64_t>(constant->bits);
  }

  std::optional<std::int64_t> step_of(const Compute& compute) const {
    const auto& operands = compute.operands;
    auto step = [&](std::size_t i) { return steps_[operands[i].index]; };
    if (std::all_of(operands.begin(), operands.end(),
                    [&](Ref operand) { return steps_[operand.index] == 0; })) {
      return 0;
    }
    // From here on the value changes; only affine i64 arithmetic changes by one number.
    if (kernel_[operands[0]].dtype != Dtype::i64) return std::nullopt;
    if (compute.op == Op::multiply) {
      for (std::size_t i : {0u, 1u}) {
        const auto factor = constant(operands[1 - i]);
        if (step(i) && factor) return *step(i) * *factor;
      }
      return std::nullopt;
    }
    if (compute.op == Op::negate && step(0)) return -*step(0);
    const bool sum = compute.op == Op::add || compute.op == Op::subtract;
    if (!sum || !step(0) || !step(1)) return std::nullopt;
    return compute.op == Op::add ? *step(0) + *step(1) : *step(0) - *step(1);
  }

  const Kernel& kernel_;
  Ref loop_index_;
  std::vector<std::optional<std::int64_t>> steps_;
};

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  operations += other.operations;
  return *this;
}

const Loop* Kernel::parallel_loop() const {
  for (Ref ref : body) {
    const auto* loop = std::get_if<Loop>(&(*this)[ref].operation);
    if (loop && loop->parallel) return loop;
  }
  return nullptr;
}

std::int64_t Kernel::extent() const {
  if (!parallel_loop()) return 1;
  std::int64_t extent = 0;
  for (Ref ref : body) {
    const auto* loop = std::get_if<Loop>(&(*this)[ref].operation);
    if (loop && loop->parallel) extent += loop->extent;
  }
  return extent;
}

std::optional<std::int64_t> stride(const Kernel& kernel, Ref index, Ref loop_index) {
  return Steps(kernel, loop_index)[index];
}

bool is_uniform(const Kernel& kernel, Ref value, Ref loop_index) {
  return stride(kernel, value, loop_index) == 0;
}

}  // namespace anabranch
