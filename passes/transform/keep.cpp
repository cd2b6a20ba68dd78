#include "passes/transform/keep.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/counted_loop.h"
#include "ir/graph/copier.h"
#include "passes/regions.h"
#include "passes/transform/dependence.h"
#include "passes/transform/linearize.h"

namespace anabranch {
namespace {

bool has_rule(const Node& node, CompositeRule rule) {
  return node.op == Op::composite && node.as<CompositeAttributes>().rule == rule;
}

// The regions whose values are the function's too, once it is differentiated: a loop's body, all
// branches, and the rule of a function that has one.
std::vector<std::uint32_t> parts_of(const Node& node) {
  if (node.op == Op::case_) return all_of(node.regions.size());
  const bool has_second = node.op == Op::while_ || has_rule(node, CompositeRule::custom_jvp) ||
                          has_rule(node, CompositeRule::custom_vjp);
  if (has_second) return {1};
  return {};
}

// The operand that a parameter of a part is; nothing for what a loop carries, or a rule's tangent.
std::optional<Value> captured(const Node& node, std::uint32_t parameter) {
  if (node.op == Op::while_ && parameter < node.types.size()) return {};
  const std::size_t operand = parameter + (node.op == Op::case_ ? 1 : 0);
  if (operand >= node.inputs.size()) return {};
  return node.inputs[operand];
}

Value without_marks(const Graph& graph, Value value) {
  while (is_mark(graph.node(value))) value = graph.node(value).inputs[0];
  return value;
}

// Values, and the names that they have been given; where a value is captured, outside.
using Names = std::vector<std::pair<Value, std::string>>;

Names names_in(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes()) {
    if (has_rule(node, CompositeRule::named)) {
      names.emplace_back(without_marks(graph, node.inputs[0]), node.as<CompositeAttributes>().name);
    }
    for (std::uint32_t part : parts_of(node)) {
      for (auto& [value, name] : names_in(node.regions[part])) {
        if (node.regions[part].node(value).op != Op::parameter) continue;
        const auto outside = captured(node, value.node);
        if (outside) names.emplace_back(without_marks(graph, *outside), std::move(name));
      }
    }
  }
  return names;
}

class Marker {
 public:
  explicit Marker(const KeepPolicy& policy) : policy_(policy) {}

  /// `of` is the node whose part `graph` is, null of the function itself.
  Graph mark(const Graph& graph, const Node* of);

  std::vector<std::string> names;

 private:
  bool keeps(const Graph& graph, const Names& given, Value value) const;

  const KeepPolicy& policy_;
};

bool Marker::keeps(const Graph& graph, const Names& given, Value value) const {
  const Node& node = graph.node(value);
  bool has_name = false;
  for (const auto& [named, name] : given) {
    if (named != value) continue;
    has_name = true;
    if (policy_({node, value.result, name})) return true;
  }
  // What a loop carries is what the turn before gave, which is asked about.
  return !has_name && node.op != Op::parameter && policy_({node, value.result, {}});
}

Graph Marker::mark(const Graph& graph, const Node* of) {
  const Names given = names_in(graph);
  std::vector<bool> tangents(graph.parameter_count());
  for (std::size_t i = of ? of->inputs.size() : tangents.size(); i < tangents.size(); ++i) {
    tangents[i] = true;
  }
  const auto is_tangent = dependent_values(graph, tangents);
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  const auto keep = [&](Value value, SourceLocation location) {
    if (is_free(graph, value) || is_tangent[value.node][value.result]) return;
    if (!keeps(graph, given, value)) return;
    copier.rename(value, add_mark(builder, copier(value), CompositeRule::kept, location));
  };
  const auto parameters = static_cast<std::uint32_t>(graph.parameter_count());
  for (std::uint32_t i = 0; i < parameters; ++i) copier.copy(i);
  const bool is_body = of && of->op == Op::while_;
  for (std::uint32_t i = 0; is_body && i < of->types.size(); ++i) keep({i, 0}, of->location);
  // What counts the turns stays as it is, for it is known by its form.
  const auto counted = is_body ? counted_loop(*of) : std::nullopt;
  const Value count =
      counted ? unguarded(graph, graph.outputs()[counted->counter]) : Value{UINT32_MAX, 0};
  for (std::uint32_t i = parameters; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    if (is_mark(node)) {
      copier.rename({i, 0}, copier(node.inputs[0]));
      if (has_rule(node, CompositeRule::named))
        names.push_back(node.as<CompositeAttributes>().name);
      continue;
    }
    Node copy = copier.renamed(i);
    for (std::uint32_t part : parts_of(node)) copy.regions[part] = mark(node.regions[part], &node);
    copier.rename(i, builder.append(std::move(copy)));
    for (std::uint32_t k = 0; k < node.types.size(); ++k) {
      if (Value{i, k} != count) keep({i, k}, node.location);
    }
  }
  return builder.build(copier(graph.outputs()));
}

}  // namespace

Graph identity_of(const Type& type) {
  GraphBuilder builder("identity");
  return builder.build({builder.parameter(type)});
}

Value add_mark(GraphBuilder& graph, Value value, CompositeRule rule, SourceLocation location) {
  const Graph identity = identity_of(graph.type(value));
  return graph.add(Op::composite, {value}, CompositeAttributes{rule, 1}, std::nullopt, {identity},
                   location);
}

MarkedFunction mark_kept(const Graph& function, const KeepPolicy& policy) {
  Marker marker(policy);
  Graph graph = marker.mark(function, nullptr);
  return {std::move(graph), std::move(marker.names)};
}

}  // namespace anabranch
