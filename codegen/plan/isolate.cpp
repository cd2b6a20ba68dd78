#include "codegen/plan/isolate.h"

#include <algorithm>
#include <vector>

#include "ir/graph/builder.h"

namespace anabranch {
namespace {

bool stands_alone(const Node& node) {
  return node.op != Op::parameter && node.op != Op::constant && node.op != Op::reshape &&
         node.op != Op::fusion && !is_control(node.op) && !is_call(node.op);
}

bool changes(const Node& node) { return stands_alone(node) || is_control(node.op); }

FusionKind kind_of(Op op) {
  if (op == Op::dot) return FusionKind::dot;
  return is_reduction(op) ? FusionKind::reduction : FusionKind::elementwise;
}

std::optional<Type> stated(const Node& node) {
  return info(node.op).has(OpInfo::typed) ? std::optional(node.types[0]) : std::nullopt;
}

Graph region_of(const Graph& graph, const Node& node) {
  GraphBuilder region("fusion");
  std::vector<Value> inputs;
  for (Value input : node.inputs) inputs.push_back(region.parameter(graph.type(input)));
  Value first =
      region.add(node.op, inputs, node.attributes, stated(node), node.regions, node.location);
  std::vector<Value> outputs;
  for (std::uint32_t i = 0; i < node.types.size(); ++i) outputs.push_back({first.node, i});
  return region.build(std::move(outputs));
}

}  // namespace

Graph isolate(const Graph& graph) {
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), changes)) return graph;
  GraphBuilder builder(graph.name());
  std::vector<Value> moved;  // per node: its first result
  auto at = [&](Value value) {
    return Value{moved[value.node].node, moved[value.node].result + value.result};
  };
  for (const Node& node : graph.nodes()) {
    std::vector<Value> inputs;
    for (Value input : node.inputs) inputs.push_back(at(input));
    if (node.op == Op::parameter) {
      moved.push_back(builder.parameter(node.types[0], node.location));
    } else if (stands_alone(node)) {
      moved.push_back(builder.add(Op::fusion, std::move(inputs), FusionAttributes{kind_of(node.op)},
                                  std::nullopt, {region_of(graph, node)}, node.location));
    } else if (node.op == Op::constant) {
      moved.push_back(builder.constant(node.as<ConstantAttributes>().value, node.location));
    } else {
      std::vector<Graph> regions = node.regions;
      if (is_control(node.op)) {
        for (Graph& region : regions) region = isolate(region);
      }
      moved.push_back(builder.add(node.op, std::move(inputs), node.attributes, stated(node),
                                  std::move(regions), node.location));
    }
  }
  std::vector<Value> outputs;
  for (Value output : graph.outputs()) outputs.push_back(at(output));
  return builder.build(std::move(outputs));
}

}  // namespace anabranch
