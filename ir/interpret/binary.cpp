// Elementwise ops of two operands whose result is the one right answer.
#include <bit>
#include <cmath>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

template <class T>
inline constexpr int width = std::same_as<T, bool> ? 1 : 8 * sizeof(T);

template <class T>
struct UnsignedOf : std::make_unsigned<T> {};
template <>
struct UnsignedOf<bool> {
  using type = bool;
};

// x with its bits seen as a number of no sign, zero-extended.
template <std::integral T>
std::uint64_t bits_of(T x) {
  return static_cast<typename UnsignedOf<T>::type>(x);
}

template <std::integral T>
T quotient(T x, T y) {
  if (y == 0) return std::same_as<T, bool> ? T{1} : static_cast<T>(~std::uint64_t{0});
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return static_cast<T>(0 - static_cast<std::uint64_t>(x));
  }
  return static_cast<T>(x / y);
}

template <std::integral T>
T integer_remainder(T x, T y) {
  if (y == 0) return x;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return static_cast<T>(x % y);
}

template <class T>
bool holds(Comparison direction, T x, T y) {
  switch (direction) {
    case Comparison::eq:
      return x == y;
    case Comparison::ne:
      return x != y;
    case Comparison::lt:
      return x < y;
    case Comparison::le:
      return x <= y;
    case Comparison::gt:
      return x > y;
    case Comparison::ge:
      return x >= y;
  }
  __builtin_unreachable();
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

namespace rules {

Results add(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T { return sum_of(x, y); });
}

Results subtract(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T {
    if constexpr (std::floating_point<T>) {
      return x - y;
    } else {
      return static_cast<T>(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
    }
  });
}

Results multiply(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T { return product_of(x, y); });
}

Results divide(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T {
    if constexpr (std::floating_point<T>)
      return x / y;
    else
      return quotient(x, y);
  });
}

Results remainder(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T {
    if constexpr (std::floating_point<T>)
      return std::fmod(x, y);
    else
      return integer_remainder(x, y);
  });
}

Results maximum(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T { return maximum_of(x, y); });
}

Results minimum(const Node& node, Operands xy) {
  return map_elements(node, xy, []<class T>(T x, T y) -> T { return minimum_of(x, y); });
}

Results and_(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T { return x & y; });
}

Results or_(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T { return x | y; });
}

Results xor_(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T { return x ^ y; });
}

Results shift_left(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T {
    return bits_of(y) < width<T> ? static_cast<T>(bits_of(x) << bits_of(y)) : T{0};
  });
}

Results shift_right_arithmetic(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T {
    if constexpr (std::same_as<T, bool>) {
      return x;
    } else {
      const auto by = std::min<std::uint64_t>(bits_of(y), width<T> - 1);
      return static_cast<T>(static_cast<std::make_signed_t<T>>(x) >> by);
    }
  });
}

Results shift_right_logical(const Node& node, Operands xy) {
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T {
    return bits_of(y) < width<T> ? static_cast<T>(bits_of(x) >> bits_of(y)) : T{0};
  });
}

Results compare(const Node& node, Operands xy) {
  const Comparison direction = node.as<CompareAttributes>().direction;
  return map_elements(node, xy, [&]<class T>(T x, T y) -> bool { return holds(direction, x, y); });
}

Results random_bits(const Node& node, Operands operands) {
  auto keys = operands[0].values<std::uint64_t>();
  auto counters = operands[1].values<std::uint64_t>();
  auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  Elements<std::uint32_t> result(node.types[0]);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const std::uint64_t key = keys[static_cast<std::size_t>(i)];
    const std::uint64_t counter = counters[static_cast<std::size_t>(i)];
    const std::uint64_t block = counter / 4;
    result[i] = philox4x32_10({low(block), high(block), 0, 0}, {low(key), high(key)})[counter % 4];
  }
  return std::move(result).finish();
}

}  // namespace rules
}  // namespace anabranch
