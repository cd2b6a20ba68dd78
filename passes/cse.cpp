#include "passes/cse.h"

#include "passes/operand_order.h"

namespace anabranch {
namespace {

bool in_order(const Rewriter& graph, Value first, Value second) {
  const bool first_is_constant = is_constant(graph, first);
  const bool second_is_constant = is_constant(graph, second);
  if (first_is_constant != second_is_constant) return second_is_constant;
  return first <= second;
}

}  // namespace

Graph cse(const Graph& graph, PassContext& context) {
  static const RuleTable& rules = *new RuleTable(operand_order_rules(in_order));
  return rewrite(graph, rules, context);
}

}  // namespace anabranch
