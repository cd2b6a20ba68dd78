// Arrays to run a graph on, small numbers and a few special ones, and how results are compared.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/scalar.h"
#include "ir/text/print.h"

namespace anabranch {

inline Literal input_of(const Type& type, std::mt19937_64& random) {
  return visit_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      double value = static_cast<double>(random() % 64) / 8 - 4;
      if (is_integer(type.dtype)) value = static_cast<double>(random() % 16) - 8;
      if (is_float(type.dtype) && random() % 16 == 0) {
        constexpr double special[] = {0.0, -0.0, std::numeric_limits<double>::infinity(), 1e-30};
        value = special[random() % 4];
      }
      T element = convert_scalar<T>(value);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &element, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

/// One array per parameter of `graph`; the same for the same seed.
inline std::vector<Literal> inputs_for(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(input_of(graph.parameter_type(i), random));
  }
  return inputs;
}

/// The same bits, or both NaN, throughout.
inline testing::AssertionResult agree(const std::vector<Literal>& a,
                                      const std::vector<Literal>& b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << "their numbers differ";
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].type() != b[k].type()) return testing::AssertionFailure() << "types of " << k;
    for (std::int64_t i = 0; i < a[k].type().size(); ++i) {
      const std::string left = element_to_string(a[k], i);
      const std::string right = element_to_string(b[k], i);
      auto is_nan = [](const std::string& text) { return text.find("nan") != std::string::npos; };
      if (left == right || (is_nan(left) && is_nan(right))) continue;
      return testing::AssertionFailure()
             << "output " << k << " at " << i << ": " << left << " and " << right;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace anabranch
