// expand: ops that no backend computes become ops that one does.
//
//   %2: f32[1,1,3] = convolution %0, %1 ...    ->    pad, sliding_windows and dot
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// `graph` without convolutions: each is a dot of the windows of its padded left operand.
Graph expand(const Graph& graph, PassContext& context);

}  // namespace anabranch
