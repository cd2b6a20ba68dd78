// Floats that have to come out to the bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace anabranch::cpu {

/// Integers as wide as the float.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Equal bits, or both NaN.
template <class T>
testing::AssertionResult have_same_bits(T got, T expected) {
  const bool are_same = std::bit_cast<BitsOf<T>>(got) == std::bit_cast<BitsOf<T>>(expected);
  if (are_same || (std::isnan(got) && std::isnan(expected))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << std::hexfloat << got << " instead of " << expected;
}

}  // namespace anabranch::cpu
