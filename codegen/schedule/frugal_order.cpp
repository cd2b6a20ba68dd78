#include "codegen/schedule/frugal_order.h"

#include <algorithm>
#include <set>

namespace anabranch {
namespace {

/// How many launches still use each temporary.
class Uses {
 public:
  explicit Uses(const Program& program)
      : program_(program), left_(program.slots.size()), begun_(program.slots.size()) {
    for (const Launch& launch : program.launches) {
      for (SlotId id : temporaries(launch)) ++left_[id];
    }
  }

  /// The bytes that begin to be live with a launch, less those that cease to be.
  std::int64_t growth(const Launch& launch) const {
    std::int64_t bytes = 0;
    for (SlotId id : temporaries(launch)) {
      const auto size = static_cast<std::int64_t>(program_.slots[id].type.bytes());
      if (!begun_[id]) bytes += size;
      if (left_[id] == 1) bytes -= size;
    }
    return bytes;
  }

  void run(const Launch& launch) {
    for (SlotId id : temporaries(launch)) {
      begun_[id] = true;
      --left_[id];
    }
  }

 private:
  std::set<SlotId> temporaries(const Launch& launch) const {
    std::set<SlotId> found;
    for (SlotId id : launch.buffers) {
      if (program_.slots[id].kind == Slot::Kind::temporary) found.insert(id);
    }
    return found;
  }

  const Program& program_;
  std::vector<std::size_t> left_;
  std::vector<bool> begun_;
};

}  // namespace

std::vector<std::uint32_t> frugal_order(const Program& program, const Dependencies& dependencies) {
  Uses uses(program);
  std::vector<std::size_t> waits_for(dependencies.size());
  std::vector<std::uint32_t> ready, order;
  for (std::uint32_t i = 0; i < dependencies.size(); ++i) {
    waits_for[i] = dependencies.before(i).size();
    if (waits_for[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const auto next = std::min_element(ready.begin(), ready.end(), [&](auto a, auto b) {
      return std::pair(uses.growth(program.launches[a]), a) <
             std::pair(uses.growth(program.launches[b]), b);
    });
    const std::uint32_t launch = *next;
    ready.erase(next);
    uses.run(program.launches[launch]);
    order.push_back(launch);
    for (std::uint32_t after : dependencies.after(launch)) {
      if (--waits_for[after] == 0) ready.push_back(after);
    }
  }
  return order;
}

}  // namespace anabranch
