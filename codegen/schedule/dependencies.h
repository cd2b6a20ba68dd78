// Dependencies: which steps of a program wait for which, with nothing said twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/program/program.h"

namespace anabranch {

/// The dependency graph of a program's steps, transitively reduced: an edge stays only if no
/// other path implies it. Steps go by their position in the program.
class Dependencies {
 public:
  /// Takes time and memory in the square of the number of steps (a bit per pair).
  explicit Dependencies(const Program& program);

  std::size_t size() const { return before_.size(); }
  /// The steps that `step` waits for directly, the latest first.
  const std::vector<std::uint32_t>& before(std::uint32_t step) const { return before_[step]; }
  /// The steps that wait directly for `step`, the earliest first.
  const std::vector<std::uint32_t>& after(std::uint32_t step) const { return after_[step]; }
  /// Whether `later` depends on `earlier`, directly or not.
  bool depends(std::uint32_t later, std::uint32_t earlier) const {
    return ancestors_[later * words_ + earlier / 64] >> (earlier % 64) & 1;
  }
  /// A bit for each step that `step` depends on, directly or not, 64 to the word.
  std::span<const std::uint64_t> ancestors(std::uint32_t step) const {
    return {&ancestors_[step * words_], words_};
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> ancestors_;
  std::vector<std::vector<std::uint32_t>> before_, after_;
};

}  // namespace anabranch
