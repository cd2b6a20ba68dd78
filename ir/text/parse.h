// Text to graph: reads what `print` writes.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// The one graph in `text`. Throws Error with the line and column, what was found and what was
/// expected; types are inferred again and must agree with what the text states. Where the text's
/// `file` is named, nodes carry it with their line.
Graph parse(std::string_view text, std::string_view file = {});

/// Every graph in `text`, in order (a golden file may hold several).
std::vector<Graph> parse_all(std::string_view text);

}  // namespace anabranch
