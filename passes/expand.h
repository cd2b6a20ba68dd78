// expand: ops that no backend computes become ops that one does.
//
//   %2: f32[1,1,3] = convolution %0, %1 ...    ->    pad, sliding_windows and dot
//   %2: c64[8] = multiply %0, %1               ->    arithmetic on real and imag, and complex
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// `graph` without convolutions but those that the context's backends take (each is a dot of the
/// windows of its padded left operand) and without arithmetic on complex numbers
/// (expand_complex.h), with powers by constants as the few ops that make them (expand_power.h), and
/// with scatters of one window as updates (expand_scatter.h). Of those that are taken, some read
/// filters backwards that a reverse turned, and some sum their features in parts.
Graph expand(const Graph& graph, PassContext& context);

}  // namespace anabranch
