// Which of many numbers lie in a range, by vector instructions where there are any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anabranch::host {

constexpr std::size_t keep_within_overhang = 16;

/// Writes, in order, `numbers[i] - least` to `offsets` and `i` to `positions` for each `i` with
/// least <= numbers[i] < least + some; returns how many. Both lists have room for `count` and
/// `keep_within_overhang` more, which are left undefined. `least + some` is at most 2^31.
std::size_t keep_within(const std::int32_t* numbers, std::size_t count, std::int32_t least,
                        std::uint32_t some, std::uint32_t* offsets, std::uint32_t* positions);

}  // namespace anabranch::host
