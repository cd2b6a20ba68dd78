// The derivative of each op, as one row: its tangents, and its transposition where it is linear.
#pragma once

#include "passes/transform/jvp_rules.h"
#include "passes/transform/transpose_rules.h"

namespace anabranch {

struct DerivativeRule {
  constexpr DerivativeRule(JvpRule rule, TransposeRule transposed = nullptr)
      : jvp(rule), transpose(transposed) {}

  JvpRule jvp;
  TransposeRule transpose;  ///< null where tangents are never made of the op
};

/// The row of an op.
DerivativeRule derivative_rule(Op op);

}  // namespace anabranch
