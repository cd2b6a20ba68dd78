#include "passes/expand_power.h"

#include <limits>
#include <optional>

#include "passes/real_parts.h"

namespace anabranch {
namespace {

// Of a power that is no integer: the sign of a zero and of an infinity is lost, and other negative
// numbers give NaN, as the square root does.
Part without_sign_at_ends(Part x) {
  const double infinity = std::numeric_limits<double>::infinity();
  return select(x == -infinity, x.number(infinity), x) + 0.0;
}

// The reciprocal comes first: a product could overflow where the power is subnormal.
std::optional<Part> power(Part x, double exponent) {
  if (exponent == 3) return x * x * x;
  if (exponent == 4) {
    const Part square = x * x;
    return square * square;
  }
  if (exponent == -2) {
    const Part inverse = 1.0 / x;
    return inverse * inverse;
  }
  for (const double half : {-1.5, -0.5, 0.5, 1.5, 2.5}) {
    if (exponent != half) continue;
    const Part base = without_sign_at_ends(x), root = sqrt(base);
    if (half == 0.5) return root;
    if (half == 1.5) return base * root;
    if (half == 2.5) return base * base * root;
    return (half == -0.5 ? x.number(1) : 1.0 / base) / root;
  }
  return std::nullopt;
}

std::optional<Value> power_of_constant(Rewriter& graph, const Node& node) {
  const Dtype dtype = node.types[0].dtype;
  const auto exponent = graph.splat_of(node.inputs[1]);
  if ((dtype != f32 && dtype != f64) || !exponent) return std::nullopt;
  const auto made = power(Part{&graph, node.inputs[0]}, exponent->first_as<double>());
  return made ? std::optional(made->value) : std::nullopt;
}

}  // namespace

std::vector<Rule> power_rules() {
  return {{"x^c by products, quotients and square roots", {Op::power}, power_of_constant}};
}

}  // namespace anabranch
