// Places in arrays whose shapes differ by axes of size 1.
//
//   (i, j) of [8,4]    is    (0, i, j) of [1,8,4]
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "anabranch/shape.h"
#include "ir/index.h"

namespace anabranch {

/// The element of an array of `shape` that is the one at `place` of an array of these `sizes`;
/// nothing where they differ by more than axes of size 1.
std::optional<std::vector<Index>> place_in(const Shape& shape, std::span<const std::int64_t> sizes,
                                           std::span<const Index> place, IndexTable& table);

}  // namespace anabranch
