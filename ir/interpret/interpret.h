// The reference interpreter: the meaning of every op, in plain loops. The oracle of the tests, and
// the folder of constants; it shares no code with the code generators.
#pragma once

#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// The outputs of `graph` on `inputs`; throws Error if their number or types differ from the
/// parameters'. Floating-point ops round once to their dtype (f16 and bf16 compute in f32);
/// approximate ops are correctly rounded to within what the host's libm gives in double.
std::vector<Literal> interpret(const Graph& graph, std::span<const Literal> inputs);

/// The same, but that convolutions of f32 and f64 outside of loops and branches are added up in
/// their own dtype and in the order of XLA's CPU backend (Eigen's product kernel), so that what
/// cancels comes out as StableHLO's test suite has it: place by place of the window, the input
/// features of each in a row; terms of even and of odd number apart, each by fused multiply-adds,
/// then what is left of an odd number.
std::vector<Literal> interpret_in_xla_order(const Graph& graph, std::span<const Literal> inputs);
/// Whether there all terms are added in a row: along one axis, without groups.
bool adds_in_a_row(const ConvolutionAttributes& convolution);

/// One op on literals: the results.
std::vector<Literal> interpret(const Node& node, std::span<const Literal> operands);

}  // namespace anabranch
