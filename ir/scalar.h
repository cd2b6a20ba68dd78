// Conversion of one number between element types, with the one defined result of the op `convert`.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "anabranch/dtype.h"

namespace anabranch {

/// The float that, rounded again to fewer than 22 bits, gives what rounding `value` once would
/// (rounding to odd: Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008).
template <class Wide>
float round_to_odd(Wide value) {
  float nearest = static_cast<float>(value);
  if (static_cast<Wide>(nearest) == value || value != value || std::isinf(nearest)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  bool magnitude_rounded_up = std::fabs(static_cast<Wide>(nearest)) > std::fabs(value);
  if (magnitude_rounded_up) --bits;
  return std::bit_cast<float>(bits | 1u);
}

/// `value` as a To. Float to integer truncates toward zero, saturates, and takes NaN to 0; integer
/// to integer wraps; to bool is "differs from zero"; to float rounds to nearest, ties to even.
template <class To, class From>
To convert_scalar(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex_storage<To>) {
    using Part = typename To::value_type;
    if constexpr (is_complex_storage<From>)
      return To(convert_scalar<Part>(value.real()), convert_scalar<Part>(value.imag()));
    else
      return To(convert_scalar<Part>(value), Part{});
  } else if constexpr (is_complex_storage<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return value != From{};
    else
      return convert_scalar<To>(value.real());
  } else if constexpr (is_narrow_float<From>) {
    return convert_scalar<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (is_narrow_float<To>) {
    // A 64-bit source would round twice on its way through float: round it to odd first.
    if constexpr (std::is_same_v<From, float> || sizeof(From) < 4) {
      return To(static_cast<float>(value));
    } else if constexpr (std::is_same_v<From, double>) {
      return To(round_to_odd(value));
    } else {
      // A long double holds every 64-bit integer.
      return To(round_to_odd(static_cast<long double>(value)));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value != value) return To{0};
    // Both bounds are exact powers of two (or zero) in From.
    constexpr From below = static_cast<From>(std::numeric_limits<To>::min());
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (value <= below) return std::numeric_limits<To>::min();
    if (value >= above) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace anabranch
