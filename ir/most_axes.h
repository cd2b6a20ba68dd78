// How many axes an array may have that a text or a file describes.
#pragma once

#include <cstddef>

namespace anabranch {

inline constexpr std::size_t most_axes = 64;  ///< as in NumPy 2

}  // namespace anabranch
