#include "passes/dce.h"

#include <algorithm>
#include <vector>

namespace anabranch {
namespace {

std::vector<char> live_nodes(const Graph& graph) {
  std::vector<char> live(graph.nodes().size(), 0);
  std::fill_n(live.begin(), graph.parameter_count(), 1);
  for (Value output : graph.outputs()) live[output.node] = 1;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    if (!live[i]) continue;
    for (Value input : graph.nodes()[i].inputs) live[input.node] = 1;
  }
  return live;
}

bool is_clean(const Graph& graph, const std::vector<char>& live, bool regions_too) {
  if (std::find(live.begin(), live.end(), 0) != live.end()) return false;
  if (!regions_too) return true;
  for (const Node& node : graph.nodes()) {
    for (const Graph& region : node.regions) {
      if (!is_clean(region, live_nodes(region), true)) return false;
    }
  }
  return true;
}

Graph remove(const Graph& graph, bool regions_too) {
  const std::vector<char> live = live_nodes(graph);
  if (is_clean(graph, live, regions_too)) return graph;
  GraphBuilder builder(graph.name());
  std::vector<std::uint32_t> renamed(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    Node node = graph.node(i);
    if (node.op == Op::parameter) {
      renamed[i] = builder.parameter(node.types[0], node.location).node;
      continue;
    }
    for (Value& input : node.inputs) input.node = renamed[input.node];
    if (regions_too) {
      for (Graph& region : node.regions) region = remove(region, true);
    }
    renamed[i] = builder.append(std::move(node)).node;
  }
  std::vector<Value> outputs(graph.outputs().begin(), graph.outputs().end());
  for (Value& output : outputs) output.node = renamed[output.node];
  return builder.build(std::move(outputs));
}

}  // namespace

Graph dce(const Graph& graph, PassContext&) { return remove(graph, true); }

Graph without_dead_nodes(const Graph& graph) { return remove(graph, false); }

}  // namespace anabranch
