// The paths of a tree's arrays.
#pragma once

#include <string>
#include <vector>

#include "anabranch/detail/carry.h"

namespace anabranch::detail {

/// Of each array in order: "carry.layers[0].weight".
std::vector<std::string> array_paths(const Form& form);

}  // namespace anabranch::detail
