// simplify: algebra that keeps every bit, and more where fast math is asked for.
//
//   %1: f32[8] = negate %0
//   %2: f32[8] = negate %1          ->    return %0
//   return %2
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// `graph` with every equation of the table applied. None adds work; all but those of fast math
/// hold bit for bit, NaN's sign and payload left aside.
Graph simplify(const Graph& graph, PassContext& context);

/// The table: exact rules, then those of fast math. tests/passes/simplify_rules.cpp holds each to
/// what the interpreter says, and wants a list of cases from a rule that is not made of patterns.
const RuleTable& simplify_rules();

}  // namespace anabranch
