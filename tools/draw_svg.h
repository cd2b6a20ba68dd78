// Pictures: Graphviz draws what is written in its language.
#pragma once

#include <string>

namespace anabranch {

/// The SVG that Graphviz's program `dot`, as PATH finds it, draws of `text`. No shell and no named
/// file is between them. Throws Error where the program is not there, or does not draw.
std::string draw_svg(const std::string& text);

}  // namespace anabranch
