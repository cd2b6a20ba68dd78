#include "codegen/schedule/dependencies.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace anabranch {
namespace {

/// The step that last wrote a slot, and the steps that have read it since.
struct SlotHistory {
  std::optional<std::uint32_t> writer;
  std::vector<std::uint32_t> readers;
};

// Every step that must come before step `i`, latest first, some of them implied by others.
std::vector<std::uint32_t> direct(const Step& step, std::uint32_t i,
                                  std::vector<SlotHistory>& history) {
  std::vector<std::uint32_t> found;
  for (SlotId id : step.buffers) {
    if (history[id].writer) found.push_back(*history[id].writer);
  }
  for (SlotId id : step.writes) {
    const std::vector<std::uint32_t>& readers = history[id].readers;
    found.insert(found.end(), readers.begin(), readers.end());
  }
  for (SlotId id : step.buffers) history[id].readers.push_back(i);
  for (SlotId id : step.writes) history[id] = {i, {}};
  std::sort(found.begin(), found.end(), std::greater<>());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

Dependencies::Dependencies(const Program& program)
    : words_((program.steps.size() + 63) / 64),
      ancestors_(program.steps.size() * words_),
      before_(program.steps.size()),
      after_(program.steps.size()) {
  std::vector<SlotHistory> history(program.slots.size());
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    std::uint64_t* mine = &ancestors_[i * words_];
    for (std::uint32_t earlier : direct(program.steps[i], i, history)) {
      // What could imply this edge comes later in the program, and has been looked at.
      if (depends(i, earlier)) continue;
      before_[i].push_back(earlier);
      after_[earlier].push_back(i);
      const std::uint64_t* theirs = &ancestors_[earlier * words_];
      for (std::size_t w = 0; w < words_; ++w) mine[w] |= theirs[w];
      mine[earlier / 64] |= std::uint64_t{1} << (earlier % 64);
    }
  }
}

}  // namespace anabranch
