#include "passes/transform/dependence.h"

#include <algorithm>

namespace anabranch {
namespace {

std::vector<bool> joined(std::vector<bool> a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

std::vector<bool> dependent_branches(const Node& node, const std::vector<bool>& operands) {
  const std::vector<bool> taken(operands.begin() + 1, operands.end());
  std::vector<bool> results(node.types.size(), operands[0]);
  for (const Graph& branch : node.regions) {
    results = joined(std::move(results), dependent_outputs(branch, taken));
  }
  return results;
}

// Of a node with an operand that depends on them.
std::vector<bool> dependent_results(const Node& node, const std::vector<bool>& operands) {
  if (node.op == Op::while_) return dependent_loop(node, operands).carried;
  if (node.op == Op::case_) return dependent_branches(node, operands);
  const bool is_call = node.op == Op::composite && is_plain_call(node.as<CompositeAttributes>());
  if (is_call) return dependent_outputs(node.regions[0], operands);
  return std::vector<bool>(node.types.size(), true);
}

}  // namespace

std::vector<std::vector<bool>> dependent_values(const Graph& graph,
                                                const std::vector<bool>& parameters) {
  std::vector<std::vector<bool>> known;
  known.reserve(graph.nodes().size());
  const auto is_dependent = [&](Value value) -> bool { return known[value.node][value.result]; };
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) {
      known.push_back({parameters[known.size()]});
    } else if (std::ranges::none_of(node.inputs, is_dependent)) {
      known.emplace_back(node.types.size(), false);
    } else {
      std::vector<bool> operands;
      for (Value input : node.inputs) operands.push_back(is_dependent(input));
      known.push_back(dependent_results(node, operands));
    }
  }
  return known;
}

std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& parameters) {
  const std::vector<std::vector<bool>> known = dependent_values(graph, parameters);
  std::vector<bool> outputs;
  for (Value output : graph.outputs()) outputs.push_back(known[output.node][output.result]);
  return outputs;
}

// A carry depends on them once anything does that it is made from.
DependentLoop dependent_loop(const Node& loop, const std::vector<bool>& operands) {
  const Graph &condition = loop.regions[0], &body = loop.regions[1];
  const std::size_t count = loop.types.size();
  std::vector<bool> flags = operands;
  while (true) {
    DependentLoop found{{flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(count)},
                        dependent_outputs(condition, flags)[0]};
    const std::vector<bool> next = dependent_outputs(body, flags);
    bool changed = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool stays = body.outputs()[i] == Value{i, 0};
      if (flags[i] || !(next[i] || (found.condition && !stays))) continue;
      flags[i] = changed = true;
    }
    if (!changed) return found;
  }
}

}  // namespace anabranch
