#include "codegen/kernel/partial_folds.h"

#include <algorithm>

namespace anabranch {
namespace {

/// How many folds and instructions use any of these.
std::ptrdiff_t uses(const Kernel& kernel, const std::vector<Ref>& refs) {
  const auto any = [&](const std::vector<Ref>& among) {
    return std::ranges::any_of(among, [&](Ref ref) { return std::ranges::count(refs, ref) > 0; });
  };
  std::ptrdiff_t count = 0;
  for (const Instruction& instruction : kernel.instructions) {
    const Operation& operation = instruction.operation;
    if (auto* compute = std::get_if<Compute>(&operation)) count += any(compute->operands);
    if (auto* store = std::get_if<Store>(&operation)) count += any({store->value});
    if (auto* loop = std::get_if<Loop>(&operation)) {
      for (const Reduction& r : loop->reductions) count += any(r.values) + any(r.initial);
    }
  }
  return count;
}

}  // namespace

std::vector<bool> partial_folds(const Kernel& kernel) {
  std::vector<bool> partial(kernel.instructions.size());
  for (const Instruction& instruction : kernel.instructions) {
    const auto* outer = std::get_if<Loop>(&instruction.operation);
    if (!outer) continue;
    for (const Reduction& whole : outer->reductions) {
      if (runs_in_order(whole.combine)) continue;
      for (Ref inner : outer->body) {
        const auto* loop = std::get_if<Loop>(&kernel[inner].operation);
        if (!loop) continue;
        for (const Reduction& part : loop->reductions) {
          if (part.combine != whole.combine || part.results != whole.values) continue;
          if (uses(kernel, part.results) == 1) partial[part.results[0].index] = true;
        }
      }
    }
  }
  return partial;
}

}  // namespace anabranch
