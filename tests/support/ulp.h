// How far a computed number is from the true one, in units in the last place of the true one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anabranch::test {

/// `truth` is wider than T and (nearly) exact. Infinity where one of them is NaN or a zero has the
/// wrong sign; past the greatest finite number, infinity counts as the next number.
template <class T, class Wide>
double ulp_error(T computed, Wide truth) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  const T rounded = static_cast<T>(truth);
  if (std::isnan(rounded)) return std::isnan(computed) ? 0 : wrong;
  if (std::isnan(computed)) return wrong;
  if (computed == 0 && rounded == 0 && truth == 0)
    return std::signbit(computed) == std::signbit(rounded) ? 0 : wrong;
  if (std::isinf(computed) && std::isinf(rounded)) return computed == rounded ? 0 : wrong;
  if (std::isinf(rounded) && (truth > 2 * Wide(std::numeric_limits<T>::max()) ||
                              truth < -2 * Wide(std::numeric_limits<T>::max())))
    return wrong;
  auto widen = [](T x) {
    if (!std::isinf(x)) return Wide(x);
    return std::copysign(T(1), x) *
           (Wide(std::numeric_limits<T>::max()) * (1 + Wide(std::ldexp(1.0, -mantissa - 1))));
  };
  const Bits exponent = (std::bit_cast<Bits>(std::fabs(rounded)) >> mantissa);
  const int clamped =
      exponent == 0 ? 1 : static_cast<int>(exponent) - (std::isinf(rounded) ? 1 : 0);
  const double ulp =
      std::ldexp(1.0, clamped - (std::numeric_limits<T>::max_exponent - 1) - mantissa);
  Wide difference = widen(computed) - truth;
  if (difference < 0) difference = -difference;
  return static_cast<double>(difference / Wide(ulp));
}

}  // namespace anabranch::test
