#include "passes/inline.h"

#include <algorithm>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"

namespace anabranch {
namespace {

bool has_composite(const Graph& graph) {
  const auto nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return anabranch::has_composite(node); });
}

// Copies all but the parameters, which have been renamed.
void copy_inlined(const Graph& graph, GraphCopier& copier, GraphBuilder& to) {
  for (auto i = static_cast<std::uint32_t>(graph.parameter_count()); i < graph.nodes().size();
       ++i) {
    const Node& node = graph.node(i);
    if (!has_composite(node)) {
      copier.copy(i);
      continue;
    }
    Node copy = copier.renamed(i);
    PassContext context;
    if (node.op != Op::composite) {
      for (Graph& region : copy.regions) region = inline_(region, context);
      copier.rename(i, to.append(std::move(copy)));
      continue;
    }
    if (node.as<CompositeAttributes>().rule == CompositeRule::pullback) {
      throw Error("a function with a custom_vjp has no forward derivative; give it a custom_jvp" +
                  (node.location ? ", at " + to_string(node.location) : std::string()));
    }
    const Graph& function = node.regions[0];
    GraphCopier inner(function, to);
    for (std::uint32_t k = 0; k < copy.inputs.size(); ++k) inner.rename(k, copy.inputs[k]);
    copy_inlined(function, inner, to);
    for (std::uint32_t k = 0; k < node.types.size(); ++k) {
      copier.rename({i, k}, inner(function.outputs()[k]));
    }
  }
}

}  // namespace

bool has_composite(const Node& node) {
  return node.op == Op::composite ||
         std::any_of(node.regions.begin(), node.regions.end(),
                     [](const Graph& region) { return has_composite(region); });
}

Graph inline_(const Graph& graph, PassContext&) {
  if (!has_composite(graph)) return graph;
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) copier.copy(i);
  copy_inlined(graph, copier, builder);
  return builder.build(copier(graph.outputs()));
}

}  // namespace anabranch
