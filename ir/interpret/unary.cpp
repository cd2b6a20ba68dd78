// Elementwise ops of one operand whose result is the one right answer.
#include <bit>
#include <cmath>

#include "ir/interpret/rules.h"

namespace anabranch::rules {

Results abs(const Node& node, Operands x) {
  return map_elements(node, x, []<class T>(T v) -> T {
    if constexpr (std::floating_point<T>) {
      return std::fabs(v);
    } else {
      return v < T{0} ? static_cast<T>(0 - static_cast<std::uint64_t>(v)) : v;
    }
  });
}

Results negate(const Node& node, Operands x) {
  return map_elements(node, x, []<class T>(T v) -> T {
    if constexpr (std::floating_point<T>) {
      return -v;
    } else {
      return static_cast<T>(0 - static_cast<std::uint64_t>(v));
    }
  });
}

Results sign(const Node& node, Operands x) {
  return map_elements(node, x, []<class T>(T v) -> T {
    if (v > T{0}) return T{1};
    if (v < T{0}) return static_cast<T>(-1);
    return v;
  });
}

Results not_(const Node& node, Operands x) {
  return map_elements(node, x, []<std::integral T>(T v) -> T {
    if constexpr (std::same_as<T, bool>)
      return !v;
    else
      return static_cast<T>(~v);
  });
}

Results popcnt(const Node& node, Operands x) {
  return map_elements(node, x, []<std::integral T>(T v) -> T {
    if constexpr (std::same_as<T, bool>)
      return v;
    else
      return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(v)));
  });
}

Results count_leading_zeros(const Node& node, Operands x) {
  return map_elements(node, x, []<std::integral T>(T v) -> T {
    if constexpr (std::same_as<T, bool>)
      return !v;
    else
      return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(v)));
  });
}

Results floor(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> T { return std::floor(v); });
}

Results ceil(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> T { return std::ceil(v); });
}

Results round_nearest_even(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> T { return std::nearbyint(v); });
}

Results round_nearest_afz(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> T { return std::round(v); });
}

Results is_finite(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> bool { return std::isfinite(v); });
}

Results sqrt(const Node& node, Operands x) {
  return map_elements(node, x, []<std::floating_point T>(T v) -> T { return std::sqrt(v); });
}

Results convert(const Node& node, Operands x) {
  return visit_any_dtype(x[0].type().dtype, [&]<class From>() {
    return visit_any_dtype(node.types[0].dtype, [&]<class To>() {
      Elements<To> result(node.types[0]);
      std::int64_t next = 0;
      for (From value : x[0].values<From>()) result[next++] = convert_scalar<To>(value);
      return std::move(result).finish();
    });
  });
}

Results bitcast_convert(const Node& node, Operands x) {
  std::span<const std::byte> bytes = x[0].bytes();
  return {Literal(node.types[0], std::vector<std::byte>(bytes.begin(), bytes.end()))};
}

}  // namespace anabranch::rules
