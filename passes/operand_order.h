// The order of operands where it does not matter: rules that two passes share.
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// Whether every element of `value` is known.
bool is_constant(const Rewriter& graph, Value value);

/// Rules that swap the operands of commutative ops, and of comparisons, that are not `in_order`.
std::vector<Rule> operand_order_rules(bool (*in_order)(const Rewriter& graph, Value first,
                                                       Value second));

}  // namespace anabranch
