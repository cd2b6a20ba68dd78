// How far a right implementation may be from the interpreter, element by element: the interpreter
// run again with a running error analysis (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd ed., 3.3).
//
// Everything starts exact. Approximate ops, float sums, products and dots bring an error in; every
// op passes on what its operands have. A comparison or a rounding that the error could tip over
// either way makes its result unknown, and one that it cannot leaves it exact.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "anabranch/devices.h"
#include "ir/graph/graph.h"
#include "ir/literal.h"

namespace anabranch {

/// A bound that accepts anything.
inline constexpr double unknown = std::numeric_limits<double>::infinity();

/// A value, and for each of its elements the greatest right distance from it (f64, same shape): 0
/// asks for the same bits (any NaN for a NaN).
struct Bounded {
  Literal value;
  Literal bound;
  /// The bound where add or subtract may take the value in before it is rounded (fused
  /// multiply-add).
  Literal unrounded;

  static Bounded exact(Literal value);
};

/// By how many units in the last place an approximate op of f32 or f64 may miss there (docs/ir.md),
/// and one more for what the interpreter rounds.
double units_missed(const Device& device);

/// Throws InternalError on a fusion: graphs are analysed as they were written.
std::vector<Bounded> interpret_bounded(const Node& node, std::span<const Bounded> operands,
                                       double units = units_missed(Device::cpu()));

/// The outputs of `graph` on exact inputs.
std::vector<Bounded> interpret_bounded(const Graph& graph, std::span<const Literal> inputs,
                                       double units = units_missed(default_device()));

}  // namespace anabranch
