// A graph for every elementwise op and every dtype that it takes.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace anabranch::testing {

std::vector<Graph> op_graphs();

}  // namespace anabranch::testing
