#include "codegen/cpu/emit/lane_sums.h"

#include <algorithm>
#include <vector>

#include "codegen/kernel/partial_folds.h"

namespace anabranch::cpu {
namespace {

class Finder {
 public:
  explicit Finder(const Kernel& kernel) : kernel_(kernel), partial_(partial_folds(kernel)) {
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
      if (std::holds_alternative<Loop>(kernel.instructions[i].operation)) visit(Ref{i});
    }
  }

  LaneSums found;

 private:
  const Loop& loop(Ref ref) const { return std::get<Loop>(kernel_[ref].operation); }

  // The lanes of what a loop adds up; 0 where it does anything else.
  int visit(Ref outer) {
    const Loop& around = loop(outer);
    if (around.parallel || around.extent == 0 || around.reductions.empty()) return 0;
    if (around.vector_width > 1) return around.vector_width;
    for (Ref inner : around.body) {
      if (!std::holds_alternative<Loop>(kernel_[inner].operation)) continue;
      if (!adds_up(around, loop(inner))) continue;
      const int lanes = visit(inner);
      if (lanes == 0) return 0;
      found.lanes[outer.index] = lanes;
      found.go_on.insert(inner.index);
      return lanes;
    }
    return 0;
  }

  // Whether one loop adds up the other's sums, each of them, and does nothing else with them.
  bool adds_up(const Loop& around, const Loop& within) const {
    return std::ranges::equal(
        around.reductions, within.reductions, [&](const Reduction& whole, const Reduction& part) {
          return whole.combine == Combine::sum && part.combine == Combine::sum &&
                 whole.values == part.results && partial_[part.results[0].index];
        });
  }

  const Kernel& kernel_;
  const std::vector<bool> partial_;
};

}  // namespace

LaneSums lane_sums(const Kernel& kernel) { return Finder(kernel).found; }

}  // namespace anabranch::cpu
