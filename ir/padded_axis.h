// What a pad keeps of one axis of its operand, in numbers that are small however extreme the pad.
//
//   low=-3 high=2 interior=1 over a b c d e    keeps    c d e    the first at place 1, 2 apart
#pragma once

#include <cstdint>
#include <optional>

#include "anabranch/shape.h"
#include "ir/attributes.h"

namespace anabranch {

/// How many elements an axis of `size` becomes: low + size + (gaps between elements) * interior +
/// high, or nothing where that leaves 64 bits.
std::optional<std::int64_t> padded_size(std::int64_t size, std::int64_t low, std::int64_t high,
                                        std::int64_t interior);

/// How many windows of `size` elements, `dilation` apart, lie inside an axis of `axis` elements if
/// one begins every `stride` elements. All three are at least 1.
std::int64_t window_count(std::int64_t axis, std::int64_t size, std::int64_t stride,
                          std::int64_t dilation);

/// `count` elements from `first` on are in the result; the first of them is at place `low` of it,
/// and each next one `step` further. All of them are below 2^60; `step` is 1 where nothing or one
/// element is kept.
struct PaddedAxis {
  std::int64_t first = 0, count = 0, low = 0, step = 1;
};

/// Of an axis of `size` elements that becomes one of `padded`, as `infer` has checked.
PaddedAxis padded_axis(std::int64_t size, std::int64_t padded, std::int64_t low,
                       std::int64_t interior);

/// The same for axis `axis` of a pad of `from` to `to`.
inline PaddedAxis padded_axis(const PadAttributes& pad, const Shape& from, const Shape& to,
                              std::size_t axis) {
  const auto at = static_cast<int>(axis);
  return padded_axis(from[at], to[at], pad.low[axis], pad.interior[axis]);
}

}  // namespace anabranch
