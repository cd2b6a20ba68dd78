// Arrays as text, character for character as NumPy's str() prints them.
#pragma once

#include <string>

#include "anabranch/type.h"

namespace anabranch {

/// With NumPy's default print options: precision 8, lines of 75, more than 1,000 elements
/// summarised by three at each end. bfloat16, which NumPy does not have, prints by the same rules.
std::string format_array(const Type& type, const void* data);

}  // namespace anabranch
