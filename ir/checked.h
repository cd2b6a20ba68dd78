// Arithmetic on numbers that have no bound of their own: what leaves 64 bits is said, never
// wrapped.
//
// An array has at most 2^59 elements (Shape), so products of its sizes, places and offsets in it,
// its bytes, and sums of a few of these need no check. Strides, paddings and gaps that a user
// states, products of sizes of several arrays, and counts of work do.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace anabranch {

/// a + b, or nothing where that leaves 64 bits.
constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nothing where that leaves 64 bits.
constexpr std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a + b, or the end of the range that it is beyond.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  return checked_add(a, b).value_or(a < 0 ? Limits::min() : Limits::max());
}

/// a * b, or the end of the range that it is beyond.
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  return checked_multiply(a, b).value_or((a < 0) != (b < 0) ? Limits::min() : Limits::max());
}

}  // namespace anabranch
