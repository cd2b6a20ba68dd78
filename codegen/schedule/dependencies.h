// Dependencies: which launches of a program wait for which, with nothing said twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codegen/schedule/program.h"

namespace anabranch {

/// The dependency graph of a program's launches, transitively reduced: an edge stays only if no
/// other path implies it. Launches go by their position in the program.
class Dependencies {
 public:
  /// Takes time and memory in the square of the number of launches (a bit per pair).
  explicit Dependencies(const Program& program);

  std::size_t size() const { return before_.size(); }
  /// The launches that `launch` waits for directly, the latest first.
  const std::vector<std::uint32_t>& before(std::uint32_t launch) const { return before_[launch]; }
  /// The launches that wait directly for `launch`, the earliest first.
  const std::vector<std::uint32_t>& after(std::uint32_t launch) const { return after_[launch]; }
  /// Whether `later` depends on `earlier`, directly or not.
  bool depends(std::uint32_t later, std::uint32_t earlier) const {
    return ancestors_[later * words_ + earlier / 64] >> (earlier % 64) & 1;
  }
  /// A bit for each launch that `launch` depends on, directly or not, 64 to the word.
  std::span<const std::uint64_t> ancestors(std::uint32_t launch) const {
    return {&ancestors_[launch * words_], words_};
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> ancestors_;
  std::vector<std::vector<std::uint32_t>> before_, after_;
};

}  // namespace anabranch
