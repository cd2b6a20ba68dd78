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

bool is_zero(Rewriter& graph, Value value) {
  const auto number = graph.splat_of(value);
  return number && number->bits(0) == Literal::scalar(number->type().dtype, 0.0).bits(0);
}

// As relu is written, which has no derivative at 0. A NaN is neither, and stays; -0 becomes 0.
std::optional<Value> select_of_positive(Rewriter& graph, const Node& node) {
  const Value condition = node.inputs[0], zero = node.inputs[1], x = node.inputs[2];
  const Node& asked = graph.node(condition);
  if (asked.op != Op::compare || is_complex(graph.type(x).dtype)) return std::nullopt;
  if (asked.as<CompareAttributes>().direction != Comparison::le) return std::nullopt;
  const Value left = asked.inputs[0], right = asked.inputs[1];
  if (left != x || !is_zero(graph, right) || !is_zero(graph, zero)) return std::nullopt;
  return graph.add(Op::maximum, {x, zero});
}

std::vector<Rule> rules_of_all_topics() {
  std::vector<Rule> rules = {
      {"[c, c, ...] = broadcast(c)", {Op::constant}, splat_constant},
      {"select(x <= 0, 0, x) = max(x, 0)", {Op::select}, select_of_positive},
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
  static const RuleTable& rules = *new RuleTable(rules_of_all_topics());
  return rules;
}

Graph canonicalize(const Graph& graph, PassContext& context) {
  return rewrite(graph, canonicalize_rules(), context);
}

}  // namespace anabranch
