// Elementwise ops that are not correctly rounded: computed by the host's libm in a wider type
// (double for f16, bf16 and f32; long double for f64) and rounded once.
#include <cmath>
#include <numbers>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

// `compute` of a double or a long double, for each element.
template <class Compute>
Results map_wide(const Node& node, Operands operands, Compute compute) {
  return visit_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (is_float_storage<T>) {
      auto x = operands[0].values<T>();
      Elements<T> result(node.types[0]);
      for (std::int64_t i = 0; i < result.size(); ++i) {
        result[i] = convert_scalar<T>(compute(Exact<T>{x[static_cast<std::size_t>(i)]}));
      }
      return std::move(result).finish();
    } else {
      refuse_dtype(node, operands[0].type().dtype);
    }
  });
}

template <class Compute>
Results map_wide_pairs(const Node& node, Operands operands, Compute compute) {
  return visit_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (is_float_storage<T>) {
      auto x = operands[0].values<T>();
      auto y = operands[1].values<T>();
      Elements<T> result(node.types[0]);
      for (std::int64_t i = 0; i < result.size(); ++i) {
        auto at = static_cast<std::size_t>(i);
        result[i] = convert_scalar<T>(compute(Exact<T>{x[at]}, Exact<T>{y[at]}));
      }
      return std::move(result).finish();
    } else {
      refuse_dtype(node, operands[0].type().dtype);
    }
  });
}

// Halley's method on erf(y) = x, from Winitzki's closed form ("A handy approximation for the error
// function and its inverse", 2008; within 0.2%), which three cubic steps take past long double.
// Beyond 1/2 the residual is taken from erfc, where erf would cancel.
long double inverse_erf(long double x) {
  const long double magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x * INFINITY : NAN;
  if (x == 0) return x;
  const long double a = 0.147L;
  const long double log = std::log1p(-magnitude * magnitude);
  const long double t = 2 / (std::numbers::pi_v<long double> * a) + log / 2;
  long double y = std::sqrt(std::fmax(std::sqrt(t * t - log / a) - t, 0.0L));
  for (int step = 0; step < 4; ++step) {
    const long double residual =
        magnitude > 0.5L ? (1 - magnitude) - std::erfc(y) : std::erf(y) - magnitude;
    const long double slope = 2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-y * y);
    const long double newton = residual / slope;
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

// x^y by squaring; integers wrap. A negative power of anything but 1 and -1 truncates to 0.
template <std::integral T>
T integer_power(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T{1} : x == -1 ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T{0};
  }
  T result = 1;
  for (auto rest = static_cast<std::uint64_t>(y); rest != 0; rest >>= 1) {
    if (rest & 1) result = product_of(result, x);
    x = product_of(x, x);
  }
  return result;
}

}  // namespace

namespace rules {

Results rsqrt(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return 1 / std::sqrt(v); });
}
Results cbrt(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::cbrt(v); });
}
Results exponential(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::exp(v); });
}
Results exponential_minus_one(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::expm1(v); });
}
Results log(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::log(v); });
}
Results log_plus_one(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::log1p(v); });
}
Results logistic(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return 1 / (1 + std::exp(-v)); });
}
Results sine(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::sin(v); });
}
Results cosine(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::cos(v); });
}
Results tan(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::tan(v); });
}
Results asin(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::asin(v); });
}
Results acos(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::acos(v); });
}
Results atan(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::atan(v); });
}
Results sinh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::sinh(v); });
}
Results cosh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::cosh(v); });
}
Results tanh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::tanh(v); });
}
Results asinh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::asinh(v); });
}
Results acosh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::acosh(v); });
}
Results atanh(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::atanh(v); });
}
Results erf(const Node& node, Operands x) {
  return map_wide(node, x, [](auto v) { return std::erf(v); });
}
Results erf_inv(const Node& node, Operands x) {
  return map_wide(node, x, []<class W>(W v) { return static_cast<W>(inverse_erf(v)); });
}
Results atan2(const Node& node, Operands yx) {
  return map_wide_pairs(node, yx, [](auto y, auto x) { return std::atan2(y, x); });
}

Results power(const Node& node, Operands xy) {
  if (is_float(xy[0].type().dtype)) {
    return map_wide_pairs(node, xy, [](auto x, auto y) {
      // glibc's powl says that -inf to the power -2^63 is infinite.
      const bool is_plain = std::isfinite(x) && x != 0;
      using Wide = decltype(x);
      return is_plain ? std::pow(x, y)
                      : Wide(std::pow(static_cast<double>(x), static_cast<double>(y)));
    });
  }
  return map_elements(node, xy, []<std::integral T>(T x, T y) -> T { return integer_power(x, y); });
}

}  // namespace rules
}  // namespace anabranch
