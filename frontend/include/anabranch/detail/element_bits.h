// ElementBits: the bits of one element of any dtype.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Up to 128 bits, zero-extended: of a dtype of at most 64 bits all are in `low`.
struct ElementBits {
  constexpr ElementBits(std::uint64_t low_half = 0, std::uint64_t high_half = 0)
      : low(low_half), high(high_half) {}
  /// Of an element's bytes, at most 16 of them.
  static ElementBits from(std::span<const std::byte> bytes) {
    ElementBits bits;
    std::memcpy(&bits, bytes.data(), bytes.size());
    return bits;
  }
  template <class T>
  static ElementBits of(const T& value) {
    static_assert(sizeof(T) <= sizeof(ElementBits));
    ElementBits bits;
    std::memcpy(static_cast<void*>(&bits), &value, sizeof value);
    return bits;
  }

  /// The element's bytes and zeros after them, 16 together.
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(this, 1)); }
  /// Whether all bits from number `width` on are 0.
  constexpr bool fit(std::size_t width) const {
    if (width >= 128) return true;
    if (width >= 64) return high >> (width - 64) == 0;
    return high == 0 && low >> width == 0;
  }

  auto operator<=>(const ElementBits&) const = default;

  std::uint64_t low, high;
};

}  // namespace anabranch
