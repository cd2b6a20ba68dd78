#include "runtime/executor/launch_event.h"

#include <algorithm>
#include <variant>

#include "runtime/timeline/record.h"

namespace anabranch::timeline {
namespace {

// A loop or a branch that is one task has no steps to draw.
struct CategoryOf {
  Category operator()(const KernelStep&) const { return Category::kernel; }
  Category operator()(const TransferStep&) const { return Category::copy; }
  Category operator()(const LoopStep& loop) const {
    return loop.is_whole ? Category::kernel : Category::loop;
  }
  Category operator()(const BranchStep& branch) const {
    return branch.is_whole ? Category::kernel : Category::branch;
  }
  template <class Library>
  Category operator()(const Library&) const {
    return Category::library;
  }
};

}  // namespace

Category category_of(const Step& step) { return std::visit(CategoryOf(), step.work); }

Details details_of(const Program& program, const Step& step) {
  if (!recording()) return {};
  Details details;
  details.bytes = step.cost.bytes_read + step.cost.bytes_written;
  details.operations = step.cost.operations;
  details.location = step.location;
  details.is_f64 = std::ranges::any_of(
      step.buffers, [&](SlotId slot) { return part_dtype(program.slots[slot].type.dtype) == f64; });
  return details;
}

}  // namespace anabranch::timeline
