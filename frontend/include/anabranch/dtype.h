// Element types: what they are called, how wide they are, and the C++ type that holds one.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

enum class Dtype : std::uint8_t {
#define DTYPE(name, ...) name,
#include "anabranch/dtypes.def"
#undef DTYPE
};
using enum Dtype;

enum class DtypeKind : std::uint8_t {
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  complex_number
};

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

/// One row of dtypes.def.
struct DtypeInfo {
  std::string_view name;
  DtypeKind kind;
  int bits;  ///< of one element in memory; a bool takes a byte
  Dtype computes_in, accumulates_in;
  int precision, max_exponent;  ///< of floats
};

/// By the enumerators' numbers.
inline constexpr DtypeInfo all_dtypes[] = {
#define DTYPE(name, text, kind, bits, storage, computes_in, accumulates_in, precision, \
              max_exponent)                                                            \
  {text, DtypeKind::kind, bits, computes_in, accumulates_in, precision, max_exponent},
#include "anabranch/dtypes.def"
#undef DTYPE
};
inline constexpr int dtype_count = static_cast<int>(std::size(all_dtypes));

constexpr const DtypeInfo& info(Dtype dtype) { return all_dtypes[static_cast<int>(dtype)]; }

/// "f32", "bool", ...
constexpr std::string_view name(Dtype dtype) { return info(dtype).name; }
/// The dtype of that name, or nothing.
std::optional<Dtype> parse_dtype(std::string_view name);

/// Bytes one element takes in memory.
constexpr std::size_t byte_size(Dtype dtype) {
  return static_cast<std::size_t>(info(dtype).bits) / 8;
}

constexpr bool is_float(Dtype dtype) { return info(dtype).kind == DtypeKind::floating; }
constexpr bool is_signed_integer(Dtype dtype) {
  return info(dtype).kind == DtypeKind::signed_integer;
}
constexpr bool is_unsigned_integer(Dtype dtype) {
  return info(dtype).kind == DtypeKind::unsigned_integer;
}
constexpr bool is_integer(Dtype dtype) {
  return is_signed_integer(dtype) || is_unsigned_integer(dtype);
}

constexpr bool is_complex(Dtype dtype) { return info(dtype).kind == DtypeKind::complex_number; }

/// The dtype of a complex number's real and imaginary part; any other dtype itself.
constexpr Dtype part_dtype(Dtype dtype) { return dtype == c64 ? f32 : dtype == c128 ? f64 : dtype; }
/// The complex dtype whose parts are of a float dtype (c64 for all narrower than f64); a complex
/// dtype itself.
constexpr Dtype complex_dtype(Dtype dtype) { return dtype == f64 || dtype == c128 ? c128 : c64; }

/// The dtype that arithmetic on `dtype` is done in: f32 for f16 and bf16, else the same.
constexpr Dtype computes_in(Dtype dtype) { return info(dtype).computes_in; }
/// The dtype that sums and products of many are carried in.
constexpr Dtype accumulates_in(Dtype dtype) { return info(dtype).accumulates_in; }

/// Calls `visit.template operator()<T>()` with the C++ type that stores one element of `dtype`.
template <class Visitor>
decltype(auto) visit_any_dtype(Dtype dtype, Visitor&& visit) {
  switch (dtype) {
#define DTYPE(name, text, kind, bits, storage, ...) \
  case name:                                        \
    return visit.template operator()<storage>();
#include "anabranch/dtypes.def"
#undef DTYPE
  }
  __builtin_unreachable();
}

/// std::complex of a float type.
template <class T>
inline constexpr bool is_complex_storage = false;
template <class T>
inline constexpr bool is_complex_storage<std::complex<T>> = true;

[[noreturn]] void refuse_complex(Dtype dtype);

/// The same for numbers that have an order, which complex numbers have not: those throw
/// InternalError.
template <class Visitor>
decltype(auto) visit_dtype(Dtype dtype, Visitor&& visit) {
  switch (dtype) {
#define DTYPE(name, text, kind, bits, storage, ...)             \
  case name:                                                    \
    if constexpr (DtypeKind::kind == DtypeKind::complex_number) \
      refuse_complex(dtype);                                    \
    else                                                        \
      return visit.template operator()<storage>();
#include "anabranch/dtypes.def"
#undef DTYPE
  }
  __builtin_unreachable();
}

/// The dtype that stores a C++ element type, if there is one: any integer type of the width and
/// sign, floats as the table has them.
template <class T>
constexpr std::optional<Dtype> stored_as() {
#define DTYPE(name, text, kind, bits, storage, ...) \
  if (std::is_same_v<T, storage>) return name;
#include "anabranch/dtypes.def"
#undef DTYPE
  constexpr auto kind =
      std::is_signed_v<T> ? DtypeKind::signed_integer : DtypeKind::unsigned_integer;
  for (int i = 0; i < dtype_count && std::is_integral_v<T>; ++i) {
    const bool fits = all_dtypes[i].kind == kind && all_dtypes[i].bits == 8 * int{sizeof(T)};
    if (fits) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

/// Float16 and its kin: floats that C++ has no arithmetic for.
template <class T>
inline constexpr bool is_narrow_float = false
#define DTYPE(name, text, kind, bits, storage, computes_in, accumulates_in, precision, \
              max_exponent)                                                            \
  || (precision != 0 && std::is_same_v<T, storage> && std::is_class_v<storage>)
#include "anabranch/dtypes.def"
#undef DTYPE
    ;

template <class T>
inline constexpr bool is_float_storage = std::is_floating_point_v<T> || is_narrow_float<T>;

template <class T>
inline constexpr Dtype dtype_of = [] {
  static_assert(stored_as<T>().has_value(), "no dtype stores this C++ type");
  return stored_as<T>().value_or(Dtype());
}();

}  // namespace anabranch
