// Division of many floats by one divisor: by its reciprocal and fused multiply-adds, to the same
// bits.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace anabranch::cpu {

/// What is computed once of a divisor, outside the loop that divides.
struct Divisor {
  llvm::Value* value = nullptr;       ///< all in every lane
  llvm::Value* reciprocal = nullptr;  ///< 1 / value, rounded to nearest
  llvm::Value* is_ordinary =
      nullptr;  ///< one bool: neither the divisor nor its reciprocal is extreme
};
Divisor prepare_divisor(llvm::IRBuilderBase& builder, llvm::Value* scalar, int width);

/// x / divisor, correctly rounded: q = x r is off by less than 1.5 ulp, and q + r (x - q divisor)
/// is right (N. Brisebarre, J.-M. Muller, S. Raina, "Accelerating correctly rounded floating-point
/// division when the divisor is known in advance", IEEE Trans. Computers 53, 2004). Near the middle
/// of two floats q is 0.5 or nearly 1.5 ulp off; in the second case x / divisor keeps farther from
/// the middle than the error of r can move it. A branch to the true division where a lane is
/// neither 0 nor far from overflow and underflow. Adds blocks.
llvm::Value* emit_quotient(llvm::IRBuilderBase& builder, llvm::Value* x, const Divisor& divisor);

}  // namespace anabranch::cpu
