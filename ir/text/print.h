// What the text of a graph is made of: numbers of values, elements, literals.
#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// What follows % in the text for each node's result 0; its other results count on from there.
std::vector<std::uint32_t> value_numbers(const Graph& graph);

/// The shortest text that reads back to the same bits; NaN payloads as nan(0x7fc00001).
std::string element_to_string(const Literal& literal, std::int64_t index);

/// The literal as the text form writes it: 1.5, or [[1, 2], [3, 4]]; equal elements are written
/// once (7 for [7, 7]), and [] stands for any array without elements.
std::string to_string(const Literal& literal);

}  // namespace anabranch
