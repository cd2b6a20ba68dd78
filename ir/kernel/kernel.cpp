#include "ir/kernel/kernel.h"

#include <algorithm>

#include "ir/fusion_plan.h"

namespace anabranch {
Cost& Cost::operator+=(const Cost& other) {
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  operations += other.operations;
  return *this;
}

const Reduction* Loop::condition() const {
  const auto found = std::ranges::find(reductions, Combine::while_, &Reduction::combine);
  return found == reductions.end() ? nullptr : &*found;
}

bool Loop::runs_in_order() const {
  return std::ranges::any_of(reductions, &anabranch::runs_in_order, &Reduction::combine);
}

std::int64_t Loop::usual_turns() const { return extent == no_bound ? unknown_turns : extent; }

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

Index Kernel::index_of(Ref ref) {
  const auto& loop = std::get<Loop>((*this)[ref].operation);
  return indices.loop(ref.index, loop.extent, loop.first);
}

std::vector<bool> placing_scalars(const Kernel& kernel) {
  std::vector<bool> places(kernel.instructions.size());
  const auto mark = [&](Index index) {
    for_each_scalar(kernel, index, [&](Ref ref) { places[ref.index] = true; });
  };
  for (const Instruction& instruction : kernel.instructions) {
    if (auto* load = std::get_if<Load>(&instruction.operation)) mark(load->index);
    if (auto* store = std::get_if<Store>(&instruction.operation)) mark(store->index);
    if (auto* position = std::get_if<IndexValue>(&instruction.operation)) mark(position->index);
  }
  return places;
}

std::optional<Dtype> dtype_of_constants(const Kernel& kernel, const Compute& compute,
                                        std::size_t i) {
  const bool selects = compute.op == Op::select;
  if (selects && i == 0) return bool_;
  for (std::size_t other = selects ? 1 : 0; other < compute.operands.size(); ++other) {
    const Ref ref = compute.operands[other];
    if (ref.index >= kernel.instructions.size()) continue;
    const Instruction& instruction = kernel[ref];
    if (!std::holds_alternative<ConstantInstruction>(instruction.operation)) {
      return instruction.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace anabranch
