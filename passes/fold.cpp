#include "passes/fold.h"

#include "ir/interpret/interpret.h"
#include "passes/rewrite.h"

namespace anabranch {
namespace {

constexpr std::int64_t most_elements = 4096;

// f(all a, all b) = all f(a, b), whatever the size.
std::optional<Value> fold_splats(Rewriter& graph, const Node& node) {
  if (!is_elementwise(node.op)) return std::nullopt;
  std::vector<Literal> scalars;
  for (Value input : node.inputs) {
    auto scalar = graph.splat_of(input);
    if (!scalar) return std::nullopt;
    scalars.push_back(std::move(*scalar));
  }
  Node on_scalars{node.op, {Type{node.types[0].dtype, {}}}, {}, node.attributes, {}, node.location};
  on_scalars.inputs.resize(node.inputs.size());
  return graph.splat(interpret(on_scalars, scalars)[0], node.types[0].shape);
}

// The array that a constant, or a constant's broadcast, is.
std::optional<Literal> known_array(const Rewriter& graph, Value value) {
  const Node& node = graph.node(value);
  if (node.op == Op::constant) return node.as<ConstantAttributes>().value;
  if (node.op != Op::broadcast_in_dim || node.types[0].size() > most_elements) return std::nullopt;
  auto operand = known_array(graph, node.inputs[0]);
  if (!operand) return std::nullopt;
  return interpret(node, {&*operand, 1})[0];
}

std::optional<Value> fold_arrays(Rewriter& graph, const Node& node) {
  if (node.op == Op::broadcast_in_dim || info(node.op).kind == OpKind::library ||
      node.op == Op::fusion || is_control(node.op) || is_call(node.op) || node.inputs.empty() ||
      node.types[0].size() > most_elements) {
    return std::nullopt;
  }
  std::vector<Literal> operands;
  for (Value input : node.inputs) {
    auto known = known_array(graph, input);
    if (!known || known->type().size() > most_elements) return std::nullopt;
    operands.push_back(std::move(*known));
  }
  return graph.constant(interpret(node, operands)[0]);
}

}  // namespace

Graph fold(const Graph& graph, PassContext& context) {
  static const RuleTable& rules = *new RuleTable({
      {"f(constant) = constant, for splats", {}, fold_splats},
      {"f(constant) = constant", {}, fold_arrays},
  });
  return rewrite(graph, rules, context);
}

}  // namespace anabranch
