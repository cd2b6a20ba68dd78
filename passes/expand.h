// expand: ops that no backend computes become ops that one does.
//
//   %2: c64[8] = multiply %0, %1               ->    arithmetic on real and imag, and complex
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// `graph` without convolutions but those that the context's backends take
/// (expand_convolutions.h) and without arithmetic on complex numbers (expand_complex.h), with
/// powers by constants as the few ops that make them (expand_power.h), with scatters of one window
/// as updates (expand_scatter.h), and with many small matrices' factors as arithmetic
/// (expand_small_matrices.h).
Graph expand(const Graph& graph, PassContext& context);

}  // namespace anabranch
