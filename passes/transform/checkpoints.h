// A linear loop, and its transpose where each turn needs what the turns before it compute.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/counted_loop.h"
#include "passes/transform/linearize.h"
#include "passes/transform/transpose_rules.h"

namespace anabranch {

/// A counted `while`, its counter beginning at 0, that is linear in some of its operands.
struct LinearLoop {
  const Node& node;
  CountedLoop counted;
  /// As operands. The counter is none of them.
  std::vector<std::uint32_t> linear_carries, known_carries, linear_captures, known_captures;
  std::vector<bool> linear;  ///< per operand
  Linearized turn;
  Graph transposed;  ///< of the turn's linear graph, the sums of the captures begun

  /// A turn backwards: the cotangents that go into it, then the sums. `known` has a value per
  /// operand that is known, the counter among them.
  std::vector<Value> transposed_turn(GraphBuilder& graph, const std::vector<Value>& known,
                                     const std::vector<Value>& cotangents,
                                     const std::vector<Value>& sums) const;
  /// The sum that a capture's cotangents are added to: where a value is captured twice, that of the
  /// first one begins with what there is.
  Quantity begun_sum(const TransposeStep& step, std::uint32_t capture) const;
  bool is_begun(std::uint32_t capture) const;
  /// What the whole loop gives backwards: results from `first` on, in that order.
  void take_results(const TransposeStep& step, Value first) const;
};

/// `linear` says which operands are.
LinearLoop linear_loop(const Node& node, const CountedLoop& counted, std::vector<bool> linear);

/// States that a loop backwards keeps at once, where the loop does not say how many; each holds one
/// value of every known carry.
inline constexpr std::int64_t default_kept_states = 32;

/// Turns are taken from the last to the first. The known carries of a turn are computed from the
/// nearest state before it that is kept; which ones are kept is the binomial schedule, which takes
/// the fewest turns for that many states (A. Griewank and A. Walther, "Algorithm 799: revolve",
/// ACM TOMS 26(1), 2000): n turns with s states take less than t n, where binomial(s + t, s) >= n.
void transpose_with_checkpoints(const TransposeStep& step, const LinearLoop& loop);

}  // namespace anabranch
