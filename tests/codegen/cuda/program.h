// The text of whole programs, loops and branches included.
#pragma once

#include <string>

#include "ir/graph/graph.h"

namespace anabranch::testing {

/// What `graph`, optimised, would run on a GPU.
std::string cuda_text_of(const Graph& graph);

}  // namespace anabranch::testing
