// Which values of a graph are batched: those that depend on a batched one.
#include <algorithm>

#include "passes/transform/batch_rules.h"

namespace anabranch {
namespace {

std::vector<bool> joined(std::vector<bool> a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

std::vector<bool> batched_branches(const Node& node, const std::vector<bool>& operands) {
  const std::vector<bool> taken(operands.begin() + 1, operands.end());
  std::vector<bool> results(node.types.size(), operands[0]);
  for (const Graph& branch : node.regions) {
    results = joined(std::move(results), batched_outputs(branch, taken));
  }
  return results;
}

// Of a node with a batched operand.
std::vector<bool> batched_results(const Node& node, const std::vector<bool>& operands) {
  if (node.op == Op::while_) return batched_loop(node, operands).carried;
  if (node.op == Op::case_) return batched_branches(node, operands);
  return std::vector<bool>(node.types.size(), true);
}

}  // namespace

std::vector<bool> batched_outputs(const Graph& graph, const std::vector<bool>& batched) {
  std::vector<std::vector<bool>> known;
  known.reserve(graph.nodes().size());
  const auto is_batched = [&](Value value) -> bool { return known[value.node][value.result]; };
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) {
      known.push_back({batched[known.size()]});
    } else if (std::ranges::none_of(node.inputs, is_batched)) {
      known.emplace_back(node.types.size(), false);
    } else {
      std::vector<bool> operands;
      for (Value input : node.inputs) operands.push_back(is_batched(input));
      known.push_back(batched_results(node, operands));
    }
  }
  std::vector<bool> outputs;
  for (Value output : graph.outputs()) outputs.push_back(is_batched(output));
  return outputs;
}

// What is carried is batched once anything that it is made from is. Where the condition is batched,
// the elements end at turns of their own, and so all differ that changes at all.
BatchedLoop batched_loop(const Node& loop, const std::vector<bool>& operands) {
  const Graph &condition = loop.regions[0], &body = loop.regions[1];
  const std::size_t count = loop.types.size();
  std::vector<bool> flags = operands;
  while (true) {
    BatchedLoop found{{flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(count)},
                      batched_outputs(condition, flags)[0]};
    const std::vector<bool> next = batched_outputs(body, flags);
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
