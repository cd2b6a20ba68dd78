// Blocked summation: where a loop adds up many floats it adds up blocks of few, then blocks of
// those sums, and so on, so that the error grows with the logarithm of their number (Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., 4.2).
//
//   for i < 1000 { sum s = x[i] }      for k < 1000 step 256 {
//                                        for j < 256 step 32 {
//                                          for i < 32 { sum r = x[k + j + i] }
//                                          sum q = r }
//                                        sum s = q }
//
// Both emitters write these loops; the kernel has one. The blocks depend on the loop alone.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Terms that one accumulator takes before it is added to the next, and how many such sums that one
/// takes.
constexpr std::int64_t terms_per_block = 32;
constexpr std::int64_t blocks_per_block = 8;
/// Of so many sums side by side, as of a product's rows, those of blocks would leave registers:
/// blocks are of as many terms as libraries for products take at once.
constexpr std::ptrdiff_t many_sums = 5;
/// Loops around the innermost one, each with an accumulator of its own; the outermost takes what is
/// left of a sum of more than a million turns.
constexpr std::size_t most_levels = 5;

/// Whether the reduction starts anew in each block; all others carry on.
bool is_blocked(const Kernel& kernel, const Reduction& reduction);

/// The sizes of the blocks of a loop that runs in `turns`, in each of which an accumulator takes
/// `terms`: in turns, outermost first. None where the loop has no such reduction or few turns.
std::vector<std::int64_t> sum_blocks(const Kernel& kernel, const Loop& loop, std::int64_t turns,
                                     std::int64_t terms = 1);

}  // namespace anabranch
