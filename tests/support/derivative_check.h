// Derivatives of a graph against central differences, and the two modes against each other.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/literal.h"

namespace anabranch::testing {

/// What of a graph is checked, and how closely.
struct DerivativeCheck {
  /// Of f64 and c128: relative to numbers above 1.
  double tolerance = 1e-6;
  double step = 1e-6;
  int order = 1;  ///< 2: the derivative of the derivative as well
  /// Parameters that are not differentiated by, of floats as they may be.
  std::vector<std::size_t> fixed = {};
};

/// Along a random direction: the jvp against central differences, and <c, J t> against <J^T c, t>,
/// all interpreted. Parameters of integers and bools stay as they are. Failures are gtest's and
/// name `what`.
void check_derivatives(const Graph& graph, const std::vector<Literal>& inputs, std::mt19937& random,
                       const std::string& what, const DerivativeCheck& check = {});

/// Evenly spread from -2 to 2, and complex numbers of two such.
Literal spread_numbers(const Type& type, std::mt19937& random, double low = -2, double high = 2);

}  // namespace anabranch::testing
