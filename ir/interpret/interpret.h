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

/// One op on literals: the results.
std::vector<Literal> interpret(const Node& node, std::span<const Literal> operands);

}  // namespace anabranch
