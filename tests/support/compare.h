// Whether outputs are within the bounds of a reference, and in words where they are not.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"
#include "tests/support/error_bounds.h"

namespace anabranch {

/// The greatest distance that the bound lets an element have: 0 means the same bits, or both NaN.
/// Of a complex number it is that of either part.
inline bool is_within(const Literal& expected, const Literal& actual, std::int64_t index,
                      double bound) {
  if (bound == unknown || expected.bits(index) == actual.bits(index)) return true;
  const auto is_close = [&](auto want, auto got) {
    const auto x = convert_scalar<double>(want), y = convert_scalar<double>(got);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return std::memcmp(&want, &got, sizeof(want)) == 0 || (bound > 0 && std::fabs(x - y) <= bound);
  };
  return visit_any_dtype(expected.type().dtype, [&]<class T>() {
    const T x = expected.values<T>()[static_cast<std::size_t>(index)];
    const T y = actual.values<T>()[static_cast<std::size_t>(index)];
    if constexpr (is_complex_storage<T>)
      return is_close(x.real(), y.real()) && is_close(x.imag(), y.imag());
    else
      return is_float_storage<T> && is_close(x, y);
  });
}

/// "output 1 [2,0]: 1.5 expected, 1.25 found (within 1e-7)", or nothing where all is right.
inline std::optional<std::string> difference(std::span<const Bounded> expected,
                                             std::span<const Literal> actual) {
  if (expected.size() != actual.size()) {
    return std::to_string(actual.size()) + " outputs instead of " + std::to_string(expected.size());
  }
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Literal& want = expected[k].value;
    const std::string output = "output " + std::to_string(k) + " ";
    if (want.type() != actual[k].type()) {
      return output + "is " + to_string(actual[k].type()) + " instead of " + to_string(want.type());
    }
    auto bounds = expected[k].bound.values<double>();
    for (std::int64_t i = 0; i < want.type().size(); ++i) {
      const double bound = bounds[static_cast<std::size_t>(i)];
      if (is_within(want, actual[k], i, bound)) continue;
      std::string place;
      std::int64_t rest = i;
      for (std::int64_t stride : want.type().shape.strides()) {
        place += (place.empty() ? "" : ",") + std::to_string(rest / stride);
        rest %= stride;
      }
      return output + "[" + place + "] of " + to_string(want.type()) + ": " +
             element_to_string(want, i) + " expected, " + element_to_string(actual[k], i) +
             " found (within " + std::to_string(bound) + ")";
    }
  }
  return std::nullopt;
}

}  // namespace anabranch
