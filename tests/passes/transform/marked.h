// Graphs whose checkpoints keep what a policy says.
#pragma once

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/transform/keep.h"

namespace anabranch::testing {

/// The graph with marks in its checkpoints, but for those in regions of other ops.
inline Graph with_policy(const Graph& graph, const KeepPolicy& policy) {
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    if (!is_checkpoint(graph.node(i))) {
      copier.copy(i);
      continue;
    }
    Node node = copier.renamed(i);
    node.regions[0] = mark_kept(node.regions[0], policy).graph;
    copier.rename(i, builder.append(std::move(node)));
  }
  return builder.build(copier(graph.outputs()));
}

/// With nothing kept, and with everything.
inline std::vector<Graph> with_extreme_policies(const Graph& graph) {
  return {graph, with_policy(graph, [](const KeepCandidate&) { return true; })};
}

}  // namespace anabranch::testing
