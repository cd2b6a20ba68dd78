#include "tests/support/random_literal.h"

#include <array>
#include <cmath>
#include <limits>

#include "ir/scalar.h"

namespace anabranch {
namespace {

// In f32 where narrower types hold them too, so that they stay ties and extremes after conversion;
// then the ends of the integers, on both sides.
constexpr double special_numbers[] = {
    0.0,     -0.0,      1.0,    -1.0,       0.5,      -0.5,           1.5,     2.5,     -2.5,
    3.0,     1e-3,      88.7,   -88.7,      0x1p-24,  65504,          0x1p-14, 0x1p-9,  0x1p127,
    1e300,   0x1p-1074, 127.5,  0x1p-126,   0x1p-149, 128.0,          -129,    255.5,   256,
    32767.5, 32768,     -32769, 65535,      65536,    2147483647.5,   0x1p31,  -0x1p31, 0x1p32,
    0x1p63,  -0x1p63,   0x1p64, 0.49999997, 8388609,  0x1.fffffep127, 2049,    257,     1e-40,
    0x1p-16};

template <class T>
T special(Random& random) {
  if constexpr (is_float_storage<T>) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    switch (random.below(8)) {
      case 0:
        return convert_scalar<T>(inf);
      case 1:
        return convert_scalar<T>(-inf);
      case 2:
        return convert_scalar<T>(std::numeric_limits<double>::quiet_NaN());
      default:
        return convert_scalar<T>(random.of(special_numbers));
    }
  } else {
    constexpr T lowest = std::numeric_limits<T>::min();
    constexpr T highest = std::numeric_limits<T>::max();
    constexpr auto width = static_cast<T>(8 * sizeof(T));
    const T choices[] = {lowest,    highest,      T(lowest + 1), T(highest - 1), T(0),
                         T(1),      T(-1),        T(7),          T(width - 1),   width,
                         T(-width), T(width + 1), T(highest / 2)};
    return random.of(choices);
  }
}

template <class T>
T from_bits(std::uint64_t bits) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &bits, sizeof(T));
  return std::bit_cast<T>(bytes);
}

// The bits of floats, as numbers, grow with the floats.
template <class T>
T extreme(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.percent(50);
  } else if constexpr (is_float_storage<T>) {
    const auto bits_of = [](double value) {
      const T number = convert_scalar<T>(value);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof(T));
      return bits;
    };
    const std::uint64_t infinity = bits_of(std::numeric_limits<double>::infinity());
    const std::uint64_t normal = infinity & ~(infinity << 1);  // the least one
    const std::uint64_t quiet = infinity | normal >> 1;
    const std::uint64_t one = bits_of(1);
    const std::uint64_t choices[] = {
        0,          0,     1,         2,        normal - 1, normal,
        one - 1,    one,   one,       one,      one + 1,    bits_of(0.5),
        bits_of(2), quiet, quiet + 5, infinity, infinity,   infinity - 1};
    const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    return from_bits<T>(random.of(choices) | (random.percent(50) ? sign : 0));
  } else {
    return random.percent(30) ? T(0) : special<T>(random);
  }
}

template <class T>
T ordinary(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.percent(50);
  } else if constexpr (is_float_storage<T>) {
    return convert_scalar<T>(4 * random.fraction() - 2);
  } else {
    return static_cast<T>(random.below(21) - (std::is_signed_v<T> ? 10 : 0));
  }
}

// Any number of leading zeros, any exponent.
template <class T>
T wide(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.percent(50);
  } else if constexpr (is_float_storage<T>) {
    const int most = sizeof(T) == 2 ? 20 : sizeof(T) == 4 ? 140 : 1'080;
    const double number =
        (1 + random.fraction()) * std::ldexp(1.0, static_cast<int>(random.below(2 * most) - most));
    return convert_scalar<T>(random.percent(50) ? number : -number);
  } else {
    const std::uint64_t bits = random.bits() >> random.below(64);
    return static_cast<T>(random.percent(50) ? bits : ~bits + 1);
  }
}

template <class T>
T positive(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (is_float_storage<T>) {
    return convert_scalar<T>(0x1p-20 + random.fraction());
  } else {
    return static_cast<T>(1 + random.below(3));
  }
}

template <class T>
T real_element(Random& random, Flavour flavour) {
  if (flavour == Flavour::wide) return wide<T>(random);
  if (flavour == Flavour::positive) return positive<T>(random);
  if (flavour == Flavour::extreme) return extreme<T>(random);
  if (flavour == Flavour::special && random.percent(30)) return special<T>(random);
  if (flavour == Flavour::any_bits && !std::is_same_v<T, bool>) {
    return from_bits<T>(random.bits());
  }
  return ordinary<T>(random);
}

template <class T>
T element(Random& random, Flavour flavour) {
  if constexpr (is_complex_storage<T>) {
    using Part = typename T::value_type;
    const Part re = element<Part>(random, flavour);
    // As often as not of one part alone, whose products stay exact.
    const bool is_real = flavour != Flavour::any_bits && random.percent(20);
    return {re, is_real ? Part(0) : element<Part>(random, flavour)};
  } else {
    return real_element<T>(random, flavour);
  }
}

}  // namespace

Literal random_literal(Random& random, const Type& type, Flavour flavour) {
  return visit_any_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      const T value = element<T>(random, flavour);
      std::memcpy(bytes.data() + at, &value, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

}  // namespace anabranch
