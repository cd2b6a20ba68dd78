#include "codegen/schedule/minimum_memory_order.h"

#include <algorithm>
#include <set>

namespace anabranch {
namespace {

/// How many steps still use each temporary.
class Uses {
 public:
  explicit Uses(const Program& program)
      : program_(program), left_(program.slots.size()), begun_(program.slots.size()) {
    for (const Step& step : program.steps) {
      for (SlotId id : temporaries(step)) ++left_[id];
    }
  }

  /// The bytes that begin to be live with a step, less those that cease to be.
  std::int64_t growth(const Step& step) const {
    std::int64_t bytes = 0;
    for (SlotId id : temporaries(step)) {
      const auto size = static_cast<std::int64_t>(program_.slots[id].type.bytes());
      if (!begun_[id]) bytes += size;
      if (left_[id] == 1) bytes -= size;
    }
    return bytes;
  }

  void run(const Step& step) {
    for (SlotId id : temporaries(step)) {
      begun_[id] = true;
      --left_[id];
    }
  }

 private:
  std::set<SlotId> temporaries(const Step& step) const {
    std::set<SlotId> found;
    for (SlotId id : step.buffers) {
      if (program_.slots[id].kind == Slot::Kind::temporary) found.insert(id);
    }
    return found;
  }

  const Program& program_;
  std::vector<std::size_t> left_;
  std::vector<bool> begun_;
};

}  // namespace

std::vector<StepId> minimum_memory_order(const Program& program, const Dependencies& dependencies) {
  Uses uses(program);
  std::vector<std::size_t> waits_for(dependencies.size());
  std::vector<StepId> ready, order;
  for (StepId i = 0; i < dependencies.size(); ++i) {
    waits_for[i] = dependencies.before(i).size();
    if (waits_for[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const auto next = std::min_element(ready.begin(), ready.end(), [&](auto a, auto b) {
      return std::pair(uses.growth(program.steps[a]), a) <
             std::pair(uses.growth(program.steps[b]), b);
    });
    const StepId step = *next;
    ready.erase(next);
    uses.run(program.steps[step]);
    order.push_back(step);
    for (StepId after : dependencies.after(step)) {
      if (--waits_for[after] == 0) ready.push_back(after);
    }
  }
  return order;
}

}  // namespace anabranch
