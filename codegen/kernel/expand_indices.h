// The end of index expressions: a kernel whose places are i64 arithmetic, in the outermost blocks
// where it can be.
//
//   for i < 64 { for j < 100 {             for i < 64 { %3 = %i * 100
//     store out0[%i * 100 + %j] = ...  ->    for j < 100 { %4 = %3 + %j
//                                              store out0[%4] = ...
#pragma once

#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

struct ExpandedKernel {
  /// Its only `IndexValue`s are those in `scalar` of loops, which no block holds.
  Kernel kernel;
  /// By instruction: where a load or a store touches its buffer, and a loop's index.
  std::vector<Ref> scalar;

  Ref operator[](Ref ref) const { return scalar[ref.index]; }
};

/// Equal arithmetic is done once wherever it is visible; parts that outer loops change come first,
/// so that partial sums leave the inner loops. Instructions keep their numbers.
ExpandedKernel expand_indices(const Kernel& kernel);

}  // namespace anabranch
