#include "passes/canonicalize.h"

#include "passes/operand_order.h"

namespace anabranch {
namespace {

bool constants_last(const Rewriter& graph, Value first, Value second) {
  return !is_constant(graph, first) || is_constant(graph, second);
}

std::optional<Value> splat_constant(Rewriter& graph, const Node& node) {
  const Literal& literal = node.as<ConstantAttributes>().value;
  if (literal.type().rank() == 0 || !literal.is_splat()) return std::nullopt;
  return graph.constant(literal);
}

std::optional<Value> convert_to_same(Rewriter& graph, const Node& node) {
  if (graph.type(node.inputs[0]) != node.types[0]) return std::nullopt;
  return node.inputs[0];
}

std::vector<Rule> rules_of_all_topics() {
  std::vector<Rule> rules = {
      {"[c, c, ...] = broadcast(c)", {Op::constant}, splat_constant},
      {"convert(x) = x, to its own dtype", {Op::convert, Op::bitcast_convert}, convert_to_same},
  };
  auto add = [&](std::vector<Rule> more) {
    for (Rule& rule : more) rules.push_back(std::move(rule));
  };
  add(operand_order_rules(constants_last));
  add(layout_rules());
  add(slice_and_pad_rules());
  add(contraction_rules());
  return rules;
}

}  // namespace

const RuleTable& canonicalize_rules() {
  static const RuleTable rules(rules_of_all_topics());
  return rules;
}

Graph canonicalize(const Graph& graph, PassContext& context) {
  return rewrite(graph, canonicalize_rules(), context);
}

}  // namespace anabranch
