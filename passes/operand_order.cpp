#include "passes/operand_order.h"

namespace anabranch {
namespace {

// x < y is y > x, and so on.
constexpr Comparison turned_round[] = {Comparison::eq, Comparison::ne, Comparison::gt,
                                       Comparison::ge, Comparison::lt, Comparison::le};

std::vector<Op> commutative_ops() {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    if (all_ops()[i].has(OpInfo::commutative)) ops.push_back(static_cast<Op>(i));
  }
  return ops;
}

}  // namespace

bool is_constant(const Rewriter& graph, Value value) {
  return graph.node(value).op == Op::constant || graph.splat_of(value).has_value();
}

std::vector<Rule> operand_order_rules(bool (*in_order)(const Rewriter&, Value, Value)) {
  auto commute = [in_order](Rewriter& graph, const Node& node) -> std::optional<Value> {
    if (in_order(graph, node.inputs[0], node.inputs[1])) return std::nullopt;
    return graph.add(node.op, {node.inputs[1], node.inputs[0]});
  };
  auto turn = [in_order](Rewriter& graph, const Node& node) -> std::optional<Value> {
    if (in_order(graph, node.inputs[0], node.inputs[1])) return std::nullopt;
    const auto direction = static_cast<std::size_t>(node.as<CompareAttributes>().direction);
    return graph.add(Op::compare, {node.inputs[1], node.inputs[0]},
                     CompareAttributes{turned_round[direction]});
  };
  return {
      {"f(y, x) = f(x, y), if f commutes", commutative_ops(), commute},
      {"y < x = x > y", {Op::compare}, turn},
  };
}

}  // namespace anabranch
