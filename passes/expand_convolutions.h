// Convolutions as what a backend computes.
//
//   %2: f32[1,1,3] = convolution %0, %1 ...    ->    pad, sliding_windows and dot
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// The rule for all convolutions but those that the context's backends take: a dot of the windows
/// of the padded left operand, or sums of products (convolution_sums.h). Of those that are taken,
/// some read filters backwards that a reverse turned, and some sum their features in parts.
/// `context` is to outlive the rule.
Rule convolution_rule(const PassContext& context);

}  // namespace anabranch
