// kept_values: the marked values of a function that is computed again, handed out of it and back
// into it.
//
//   graph f(%0: f32[8]) {              giving:                        taking:
//     %1: f32[8] = tanh %0             graph f(%0: f32[8]) {          graph f(%0: f32[8], %1:
//     f32[8]) { %2: f32[8] = composite %1          %1: f32[8] = tanh %0           %2: f32[8] = sine
//     %1
//       rule=kept ...               ->   %2: f32[8] = composite ...     return %2
//     %3: f32[8] = sine %2               %3: f32[8] = sine %2         }
//     return %3                          return %3, %2
//   }                                  }
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct KeptValues {
  Graph giving;  ///< the function; its outputs, then what is kept
  Graph taking;  ///< of its parameters, then what is kept
  std::vector<Type> types;
};

/// Values that depend on a parameter that is `linear` are not kept. Those of a loop are where its
/// turns are known: stacks, with an entry per turn. Those of branches are zeros where another one
/// is taken.
KeptValues kept_values(const Graph& function, const std::vector<bool>& linear);

}  // namespace anabranch
