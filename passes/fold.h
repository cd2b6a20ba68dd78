// fold: computes now what depends on constants alone.
//
//   %1: f32[] = constant 2
//   %2: f32[] = constant 3               %1: f32[] = constant 5
//   %3: f32[] = add %1, %2         ->    %2: f32[] = multiply %0, %1
//   %4: f32[] = multiply %0, %3          return %2
//   return %4
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` with such ops replaced by what the interpreter makes of them. A broadcast stays one,
/// however large; other results are computed up to 4,096 elements, iota never.
Graph fold(const Graph& graph, PassContext& context);

}  // namespace anabranch
