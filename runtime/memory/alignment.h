// How a device's memory is aligned.
#pragma once

#include <cstddef>

namespace anabranch {

/// The alignment of all memory that a device hands out, in bytes.
inline constexpr std::size_t memory_alignment = 64;

}  // namespace anabranch
