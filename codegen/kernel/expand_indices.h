// The end of index expressions: a kernel whose places are i64 arithmetic, in the outermost blocks
// where it can be.
//
//   for i < 64 { for j < 100 {             for i < 64 { %3 = %i * 100
//     store out0[%i * 100 + %j] = ...  ->    for j < 100 { %4 = %3 + %j
//                                              store out0[%4] = ...
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

struct ExpandedKernel {
  /// Its only `IndexValue`s are those in `scalar` of loops, which no block holds.
  Kernel kernel;
  /// By instruction: where a load or a store touches its buffer, and a loop's index.
  std::vector<Ref> scalar;
  /// Instructions from this one on are arithmetic of places: what they divide is never negative.
  std::uint32_t first_of_places = 0;

  Ref operator[](Ref ref) const { return scalar[ref.index]; }
  bool is_of_places(Ref ref) const { return ref.index >= first_of_places; }
};

/// Equal arithmetic is done once wherever it is visible; parts that outer loops change come first,
/// so that partial sums leave the inner loops. Instructions keep their numbers.
ExpandedKernel expand_indices(const Kernel& kernel);

}  // namespace anabranch
