// Whether outputs are within the bounds of a reference, and in words where they are not.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "tests/support/error_bounds.h"

namespace anabranch {

/// The greatest distance that the bound lets an element have: 0 means the same bits, or both NaN.
inline bool is_within(const Literal& expected, const Literal& actual, std::int64_t index,
                      double bound) {
  if (bound == unknown || expected.bits(index) == actual.bits(index)) return true;
  if (!is_float(expected.type().dtype)) return false;
  return visit_dtype(expected.type().dtype, [&]<class T>() {
    const auto x = static_cast<double>(expected.values<T>()[static_cast<std::size_t>(index)]);
    const auto y = static_cast<double>(actual.values<T>()[static_cast<std::size_t>(index)]);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return bound > 0 && std::fabs(x - y) <= bound;
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
