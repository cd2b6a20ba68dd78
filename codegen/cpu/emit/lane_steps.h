// Indices that hang on the quotient and the remainder of one that grows by the same from lane to
// lane.
//
// Lanes of 64 bits have no high half of a product, by which a division by a constant is made, so
// each would be divided by itself. One division does: first = q by + r and i stride = q' by + r'
// make the quotient of lane i q + q' and its remainder r + r', or one more and `by` less.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "ir/bounds.h"
#include "ir/op.h"

namespace anabranch::cpu {

/// Divides an index by a positive constant: `op` is divide or remainder, neither number negative.
llvm::Value* emit_index_division(llvm::IRBuilderBase& builder, Op op, llvm::Value* x,
                                 llvm::Value* by);

/// An index whose dividend is `first` in lane 0 and grows by `stride` from lane to lane. It hangs
/// so many times on the quotient, the remainder, and the lane's number.
struct LaneSteps {
  llvm::Value* first = nullptr;  ///< one i64, not negative
  std::int64_t stride = 1, by = 1;
  std::int64_t of_quotient = 0, of_remainder = 0, of_lane = 0;
  int first_lane = 0, lanes = 1;  ///< those that are wanted

  /// What a lane adds to the index of lane 0, where the remainders' sum is less than `by`.
  std::int64_t plain(int lane) const;
  /// What it adds to that where the sum is not less.
  std::int64_t carry() const;
  /// Between which numbers all is that lanes add, whatever `first` is.
  Bounds bounds() const;
};

/// What each lane adds to the index of lane 0, as integers of so many bits, which wrap around.
llvm::Value* emit_lane_steps(llvm::IRBuilderBase& builder, const LaneSteps& steps, unsigned bits);

}  // namespace anabranch::cpu
