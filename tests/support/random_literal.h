// Random arrays: ordinary numbers, special ones, or any bits.
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "ir/literal.h"

namespace anabranch {

/// Random choices that are the same on every machine (standard distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// One of 0 to count - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(count));
  }
  bool percent(int chance) { return below(100) < chance; }
  /// In [0, 1), a multiple of 2^-20.
  double fraction() { return static_cast<double>(engine_() >> 44) * 0x1p-20; }
  template <class List>
  const auto& of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  std::mt19937_64 engine_;
};

/// Which numbers an array holds.
enum class Flavour : std::uint8_t {
  ordinary,  ///< floats in [-2, 2], small integers
  special,   ///< with zeros of both signs, infinities, NaN, extremes and ties among them
  wide,      ///< numbers of every magnitude that the dtype has
  any_bits,
  positive,  ///< floats in (0, 1], small integers from 1: sums whose errors add up
  extreme    ///< nothing but 0, 1, the ends of the dtype and those next to them, of both signs,
             ///< subnormal numbers, infinities and NaNs
};

Literal random_literal(Random& random, const Type& type, Flavour flavour);

}  // namespace anabranch
