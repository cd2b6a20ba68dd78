#include "passes/outline.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"

namespace anabranch {
namespace {

bool stands_alone(const Node& node) {
  return node.op != Op::parameter && node.op != Op::constant && node.op != Op::reshape &&
         node.op != Op::fusion && !is_control(node.op) && !is_call(node.op);
}

bool changes(const Node& node) { return stands_alone(node) || is_control(node.op); }

FusionKind kind_of(Op op) {
  if (is_library(op)) return FusionKind::dot;
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

Graph outline(const Graph& graph, PassContext& context) {
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), changes)) return graph;
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    if (!changes(node)) {
      copier.copy(i);
      continue;
    }
    Node made = copier.renamed(i);
    if (is_control(node.op)) {
      for (Graph& region : made.regions) region = outline(region, context);
    } else {
      made.regions = {region_of(graph, node)};
      made.attributes = FusionAttributes{kind_of(node.op)};
      made.op = Op::fusion;
    }
    copier.rename(i, builder.append(std::move(made)));
  }
  return builder.build(copier(graph.outputs()));
}

}  // namespace anabranch
