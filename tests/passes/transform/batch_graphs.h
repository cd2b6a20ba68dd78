// Small graphs of every op that `batch` has a rule for, those without a choice of dtypes as text.
#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch::testing {

/// Of index maps, reductions, products, and what the host computes.
std::vector<Graph> graphs_of_arrays();
/// Loops and branches, nested too.
std::vector<Graph> graphs_of_control();
/// Of every elementwise op and some dtypes.
std::vector<Graph> graphs_of_elements();

}  // namespace anabranch::testing
