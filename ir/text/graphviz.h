// What graphs and programs share as Graphviz DOT.
#pragma once

#include <string>
#include <string_view>

namespace anabranch {

/// For a quoted string of DOT: a backslash before each backslash and each quote.
std::string escaped(std::string_view text);

}  // namespace anabranch
