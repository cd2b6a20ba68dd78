// Arrays to run a graph on: small numbers, a few of them special.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/graph.h"
#include "ir/scalar.h"

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

}  // namespace anabranch
