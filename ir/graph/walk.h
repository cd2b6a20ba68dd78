// A graph's outputs from its inputs, node by node, whatever stands for a value.
#pragma once

#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// `evaluate(node, operands)` gives the results of every node but the parameters, which are
/// `inputs`.
template <class T, class Evaluate>
std::vector<T> walk(const Graph& graph, std::span<const T> inputs, Evaluate evaluate) {
  std::vector<std::vector<T>> values;
  values.reserve(graph.nodes().size());
  std::vector<T> operands;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::parameter) {
      values.push_back({inputs[values.size()]});
      continue;
    }
    operands.clear();
    for (Value input : node.inputs) operands.push_back(values[input.node][input.result]);
    values.push_back(evaluate(node, std::span<const T>(operands)));
  }
  std::vector<T> outputs;
  for (Value output : graph.outputs()) outputs.push_back(values[output.node][output.result]);
  return outputs;
}

}  // namespace anabranch
