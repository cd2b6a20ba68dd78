// Element types: what they are called, how wide they are, and the C++ type that holds one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace anabranch {

enum class Dtype : std::uint8_t {
  bool_,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64
};
using enum Dtype;

inline constexpr int dtype_count = 13;

/// IEEE 754 binary16. Arithmetic is done in float; this holds and converts (nearest, ties to even).
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value)
      : bits(std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) {}
  explicit Float16(double value)
      : bits(std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) {}
  operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
  static Float16 from_bits(std::uint16_t bits) { return std::bit_cast<Float16>(bits); }
};

/// bfloat16: the upper half of a float, rounded to nearest, ties to even; NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    auto word = std::bit_cast<std::uint32_t>(value);
    if (value != value) {
      bits = static_cast<std::uint16_t>((word >> 16) | 0x40);
    } else {
      bits = static_cast<std::uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16);
    }
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  static BFloat16 from_bits(std::uint16_t bits) { return std::bit_cast<BFloat16>(bits); }
};

/// "f32", "bool", ...
std::string_view name(Dtype dtype);

/// The dtype of that name, or nothing.
std::optional<Dtype> parse_dtype(std::string_view name);

/// Bytes one element takes in memory; a bool takes one.
std::size_t byte_size(Dtype dtype);

constexpr bool is_float(Dtype dtype) { return dtype >= f16; }
constexpr bool is_signed_integer(Dtype dtype) { return dtype >= i8 && dtype <= i64; }
constexpr bool is_unsigned_integer(Dtype dtype) { return dtype >= u8 && dtype <= u64; }
constexpr bool is_integer(Dtype dtype) { return dtype >= i8 && dtype <= u64; }

/// Calls `visit.template operator()<T>()` with the C++ type that stores one element of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(Dtype dtype, Visitor&& visit) {
  switch (dtype) {
    case bool_:
      return visit.template operator()<bool>();
    case i8:
      return visit.template operator()<std::int8_t>();
    case i16:
      return visit.template operator()<std::int16_t>();
    case i32:
      return visit.template operator()<std::int32_t>();
    case i64:
      return visit.template operator()<std::int64_t>();
    case u8:
      return visit.template operator()<std::uint8_t>();
    case u16:
      return visit.template operator()<std::uint16_t>();
    case u32:
      return visit.template operator()<std::uint32_t>();
    case u64:
      return visit.template operator()<std::uint64_t>();
    case f16:
      return visit.template operator()<Float16>();
    case bf16:
      return visit.template operator()<BFloat16>();
    case f32:
      return visit.template operator()<float>();
    case f64:
      return visit.template operator()<double>();
  }
  __builtin_unreachable();
}

/// The dtype that stores a C++ element type.
template <class T>
inline constexpr Dtype dtype_of = [] {
  if constexpr (std::is_same_v<T, bool>)
    return bool_;
  else if constexpr (std::is_same_v<T, Float16>)
    return f16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return bf16;
  else if constexpr (std::is_same_v<T, float>)
    return f32;
  else if constexpr (std::is_same_v<T, double>)
    return f64;
  else {
    static_assert(std::is_integral_v<T>, "no dtype stores this C++ type");
    constexpr int log2 = std::countr_zero(sizeof(T));
    return static_cast<Dtype>(static_cast<int>(std::is_signed_v<T> ? i8 : u8) + log2);
  }
}();

}  // namespace anabranch
