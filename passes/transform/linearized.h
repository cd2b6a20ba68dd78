// Linearized: a graph taken apart, as `linearize` gives it.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct Linearized {
  Graph known;                  ///< the known parameters; the known outputs, then the residuals
  Graph linear;                 ///< the linear parameters, then the residuals; the linear outputs
  std::vector<bool> is_linear;  ///< per output of the graph: which of the two has it
};

}  // namespace anabranch
