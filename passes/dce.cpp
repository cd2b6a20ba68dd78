#include "passes/dce.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/graph/value_table.h"
#include "passes/regions.h"

namespace anabranch {
namespace {

using Mask = std::vector<char>;

Mask all(std::size_t count) { return Mask(count, 1); }

bool any(std::span<const char> mask) { return std::ranges::count(mask, 1) > 0; }
bool full(std::span<const char> mask) { return std::ranges::count(mask, 0) == 0; }

/// What a loop or a branch needs: which of its results must be there, which operands it reads.
struct Needs {
  Mask results, operands;
};

/// Which values outputs need. What has been found of a region is kept: each level of a nest asks
/// for it anew, so that a nest would take 2^depth of the time of its regions. Good while the graphs
/// that it was asked about stay where they are.
class Liveness {
 public:
  explicit Liveness(bool regions_too) : regions_too_(regions_too) {}

  /// Which values these outputs need.
  const ValueTable<char>& live_values(const Graph& graph, const Mask& outputs) {
    const auto known = known_.find({&graph, outputs});
    if (known != known_.end()) return known->second;
    return known_.emplace(std::pair(&graph, outputs), find(graph, outputs)).first->second;
  }

  const ValueTable<char>& live_values(const Graph& graph) {
    return live_values(graph, all(graph.outputs().size()));
  }

  /// Whether a node may need only some of its operands, and do without some of its results.
  bool may_be_trimmed(const Node& node) const { return regions_too_ && is_control(node.op); }

  /// Of such a node, which stays where it is, where these of its results are needed.
  Needs needs_of(const Node& node, std::span<const char> results) {
    const Mask mask(results.begin(), results.end());
    return node.op == Op::while_ ? needs_of_loop(node, mask) : needs_of_branch(node, mask);
  }

 private:
  // The parameters that these outputs of a region depend on.
  Mask live_parameters(const Graph& region, const Mask& outputs) {
    const ValueTable<char>& live = live_values(region, outputs);
    Mask parameters;
    for (std::uint32_t i = 0; i < region.parameter_count(); ++i) parameters.push_back(live[{i, 0}]);
    return parameters;
  }

  // A carried value lives if its result is read, the condition reads it, or another that lives is
  // computed from it.
  Needs needs_of_loop(const Node& node, Mask results) {
    Mask operands = live_parameters(node.regions[0], all(1));
    while (true) {
      const Mask read = live_parameters(node.regions[1], results);
      for (std::size_t i = 0; i < operands.size(); ++i) operands[i] |= read[i];
      bool grew = false;
      for (std::size_t i = 0; i < results.size(); ++i) {
        grew = grew || (operands[i] && !results[i]);
        results[i] |= operands[i];
        operands[i] = results[i];
      }
      if (!grew) return {std::move(results), std::move(operands)};
    }
  }

  Needs needs_of_branch(const Node& node, const Mask& results) {
    Needs needs{results, Mask(node.inputs.size(), 0)};
    needs.operands[0] = 1;
    for (const Graph& branch : node.regions) {
      const Mask read = live_parameters(branch, results);
      for (std::size_t i = 0; i < read.size(); ++i) needs.operands[1 + i] |= read[i];
    }
    return needs;
  }

  ValueTable<char> find(const Graph& graph, const Mask& outputs) {
    ValueTable<char> live(graph, 0);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i]) live[graph.outputs()[i]] = 1;
    }
    for (std::size_t i = graph.nodes().size(); i-- > 0;) {
      const std::span<char> results = live.of(i);
      if (!any(results)) continue;
      const Node& node = graph.nodes()[i];
      if (!may_be_trimmed(node)) {
        std::ranges::fill(results, 1);
        for (Value input : node.inputs) live[input] = 1;
        continue;
      }
      const Needs needs = needs_of(node, results);
      std::ranges::copy(needs.results, results.begin());
      for (std::uint32_t operand : positions(needs.operands)) live[node.inputs[operand]] = 1;
    }
    return live;
  }

  const bool regions_too_;
  std::map<std::pair<const Graph*, Mask>, ValueTable<char>> known_;
};

bool is_clean(const Graph& graph, Liveness& liveness, bool regions_too) {
  const ValueTable<char>& live = liveness.live_values(graph);
  for (std::size_t i = graph.parameter_count(); i < graph.nodes().size(); ++i) {
    if (!full(live.of(i))) return false;
    const Node& node = graph.nodes()[i];
    if (!regions_too || node.op == Op::fusion) continue;
    if (liveness.may_be_trimmed(node) && !full(liveness.needs_of(node, live.of(i)).operands)) {
      return false;
    }
    for (const Graph& region : node.regions) {
      if (!is_clean(region, liveness, regions_too)) return false;
    }
  }
  return true;
}

Graph remove(const Graph& graph, bool regions_too);

// A loop or a branch with only the results and the operands that are needed. Regions inside its
// regions lose what they do not need first, and so no longer ask for an operand that goes.
Node trimmed(const Node& node, const Needs& needs) {
  const std::size_t before = node.op == Op::case_ ? 1 : 0;
  Node made = node;
  made.inputs.clear();
  made.types.clear();
  std::vector<NewParameter> parameters(node.inputs.size() - before);
  std::vector<Type> types;
  for (std::uint32_t i : positions(needs.operands)) {
    made.inputs.push_back(node.inputs[i]);
    if (i < before) continue;
    parameters[i - before].index = static_cast<std::uint32_t>(types.size());
    types.push_back(node.regions[0].parameter_type(i - before));
  }
  const std::vector<std::uint32_t> kept = positions(needs.results);
  for (std::uint32_t result : kept) made.types.push_back(node.types[result]);
  for (std::size_t i = 0; i < made.regions.size(); ++i) {
    const bool is_condition = node.op == Op::while_ && i == 0;
    const Graph region = dce(node.regions[i], is_condition ? all_of(1) : kept);
    made.regions[i] = with_parameters(region, types, parameters, all_of(region.outputs().size()));
  }
  return made;
}

Graph remove(const Graph& graph, bool regions_too) {
  Liveness liveness(regions_too);
  if (is_clean(graph, liveness, regions_too)) return graph;
  const ValueTable<char>& live = liveness.live_values(graph);
  GraphBuilder builder(graph.name());
  builder.reserve(graph.nodes().size());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.node(i).op == Op::parameter) {
      copier.copy(i);
      continue;
    }
    if (!any(live.of(i))) continue;
    const Node& given = graph.node(i);
    Node node = liveness.may_be_trimmed(given)
                    ? trimmed(given, liveness.needs_of(given, live.of(i)))
                    : given;
    if (regions_too && !is_control(node.op) && node.op != Op::fusion) {  // that one is decided
      for (Graph& region : node.regions) region = remove(region, true);
    }
    for (Value& input : node.inputs) input = copier(input);
    Value next = builder.append(std::move(node));
    for (std::uint32_t result = 0; result < graph.node(i).types.size(); ++result) {
      if (!live[{i, result}]) continue;
      copier.rename({i, result}, next);
      ++next.result;
    }
  }
  return builder.build(copier(graph.outputs()));
}

}  // namespace

Graph dce(const Graph& graph, PassContext&) { return remove(graph, true); }

Graph dce(const Graph& graph, std::span<const std::uint32_t> outputs) {
  if (outputs.size() == graph.outputs().size()) return remove(graph, true);
  std::vector<Type> types;
  std::vector<NewParameter> parameters;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    parameters.push_back({i});
    types.push_back(graph.parameter_type(i));
  }
  return remove(with_parameters(graph, types, parameters, outputs), true);
}

Graph without_dead_nodes(const Graph& graph) { return remove(graph, false); }

}  // namespace anabranch
