// Sort keys: elements as unsigned integers that are in the order of the op `sort`, and back.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "anabranch/dtype.h"

namespace anabranch::host {

/// The unsigned integer that the key of a T is: of the same width.
template <class T>
using KeyOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
inline constexpr KeyOf<T> highest_bit = static_cast<KeyOf<T>>(KeyOf<T>{1} << (8 * sizeof(T) - 1));

/// The bits of infinity: all those of the exponent, and none of the significand.
template <class T>
inline constexpr KeyOf<T> infinity_bits = [] {
  constexpr int significand = info(dtype_of<T>).precision - 1;
  return static_cast<KeyOf<T>>(((highest_bit<T> >> significand) - 1) << significand);
}();

template <class T>
inline constexpr KeyOf<T> quiet_nan_bits = static_cast<KeyOf<T>>(infinity_bits<T> |
                                                                 (infinity_bits<T> >> 1));

/// Keys of equal elements are equal: those of -0 and 0, and all bits set for each NaN.
template <class T>
KeyOf<T> key_of(T x) {
  using Key = KeyOf<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else if constexpr (is_float_storage<T>) {
    const auto bits = std::bit_cast<Key>(x);
    const auto magnitude = static_cast<Key>(bits & static_cast<Key>(~highest_bit<T>));
    const bool is_negative = bits > highest_bit<T>;  // and no zero
    const auto key = static_cast<Key>(is_negative ? ~bits : magnitude | highest_bit<T>);
    return magnitude > infinity_bits<T> ? static_cast<Key>(~Key{0}) : key;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<Key>(x) ^ highest_bit<T>);
  } else {
    return x;
  }
}

/// The element that has this key: of zeros 0, of NaNs the one that machines make.
template <class T>
T element_of(KeyOf<T> key) {
  using Key = KeyOf<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (is_float_storage<T>) {
    if (key == static_cast<Key>(~Key{0})) return std::bit_cast<T>(quiet_nan_bits<T>);
    const bool is_negative = key < highest_bit<T>;
    return std::bit_cast<T>(static_cast<Key>(is_negative ? ~key : key ^ highest_bit<T>));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(key ^ highest_bit<T>);
  } else {
    return key;
  }
}

/// Whether `element_of(key_of(x))` may have other bits than x: of a zero or a NaN.
template <class T>
bool loses_bits(T x) {
  if constexpr (is_float_storage<T>) {
    const auto bits = std::bit_cast<KeyOf<T>>(x);
    const auto magnitude = static_cast<KeyOf<T>>(bits & static_cast<KeyOf<T>>(~highest_bit<T>));
    return bits == highest_bit<T> || (magnitude > infinity_bits<T> && bits != quiet_nan_bits<T>);
  } else {
    return false;
  }
}

}  // namespace anabranch::host
