// simplify: algebra that keeps every bit, and more where fast math is asked for.
//
//   %1: f32[8] = negate %0
//   %2: f32[8] = negate %1          ->    return %0
//   return %2
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with every equation of the table applied. None adds work; all but those of fast math
/// hold bit for bit, NaN's sign and payload left aside.
Graph simplify(const Graph& graph, PassContext& context);

}  // namespace anabranch
