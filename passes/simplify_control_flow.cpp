#include "passes/simplify_control_flow.h"

#include <algorithm>
#include <map>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/regions.h"

namespace anabranch {
namespace {

/// Writes the new graph; each loop and branch is looked at once what it reads is written.
class Straightener {
 public:
  Straightener(const Graph& graph, PassContext& context)
      : graph_(graph), context_(context), builder_(graph.name()) {}

  Graph run() {
    GraphCopier copier(graph_, builder_);
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.node(i);
      if (node.op == Op::check && holds(copier(node.inputs[0]))) {
        for (std::uint32_t k = 0; k < node.types.size(); ++k) {
          copier.rename({i, k}, copier(node.inputs[1 + k]));
        }
        continue;
      }
      if (!is_control(node.op)) {
        copier.copy(i);
        continue;
      }
      Node copy = copier.renamed(i);
      for (Graph& region : copy.regions) region = simplify_control_flow(region, context_);
      const Values made = copy.op == Op::case_ ? branch(std::move(copy)) : loop(std::move(copy));
      for (std::uint32_t k = 0; k < made.size(); ++k) copier.rename({i, k}, made[k]);
    }
    return without_dead_nodes(builder_.build(copier(graph_.outputs())));
  }

 private:
  using Values = std::vector<Value>;

  Values results(std::uint32_t node) const {
    Values values;
    const auto count = static_cast<std::uint32_t>(builder_.node({node, 0}).types.size());
    for (std::uint32_t i = 0; i < count; ++i) values.push_back({node, i});
    return values;
  }

  // The value of a scalar that is a constant, for as long as nothing is added.
  const Literal* constant(Value value) const {
    const Node& node = builder_.node(value);
    if (node.op != Op::constant || !node.types[0].shape.sizes().empty()) return nullptr;
    return &node.as<ConstantAttributes>().value;
  }

  // Whether a check's state is known to be that nothing failed.
  bool holds(Value state) const {
    const Literal* known = constant(state);
    return known && known->values<std::int32_t>()[0] == 0;
  }

  Values branch(Node node) {
    const std::size_t last = node.regions.size() - 1;
    const Literal* known = constant(node.inputs[0]);
    const bool one_way =
        std::all_of(node.regions.begin(), node.regions.end(),
                    [&](const Graph& branch) { return is_same_but_name(branch, node.regions[0]); });
    if (!known && !one_way) return results(builder_.append(tidy(std::move(node), 1, 0)).node);
    std::size_t taken = 0;
    if (known && !one_way) {
      const std::int32_t index = known->values<std::int32_t>()[0];
      taken = index < 0 ? last : std::min<std::size_t>(static_cast<std::size_t>(index), last);
    }
    return inlined(node.regions[taken], builder_, std::span(node.inputs).subspan(1));
  }

  static bool is_same_but_name(const Graph& a, const Graph& b) {
    return a.parameter_count() == b.parameter_count() &&
           std::ranges::equal(a.outputs(), b.outputs()) &&
           std::ranges::equal(a.nodes(), b.nodes(), same_computation);
  }

  Values loop(Node node) {
    if (never_runs(node)) {
      node.inputs.resize(node.types.size());
      return node.inputs;
    }
    // Result k of the old loop is result place[k] of the new one, or an operand.
    const Graph& body = node.regions[1];
    const std::size_t count = node.types.size();
    Values replaced(count);
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (body.outputs()[i] == Value{i, 0}) {
        replaced[i] = node.inputs[i];
      } else {
        kept.push_back(i);
      }
    }
    if (kept.empty()) return results(builder_.append(std::move(node)).node);  // it never ends
    node = capturing(std::move(node), kept);
    const std::uint32_t made = builder_.append(tidy(std::move(node), 0, kept.size())).node;
    for (std::uint32_t i = 0; i < kept.size(); ++i) replaced[kept[i]] = {made, i};
    return replaced;
  }

  // Whether the condition fails for the first values, as far as these are known.
  bool never_runs(const Node& node) {
    const Graph& condition = node.regions[0];
    std::vector<NewParameter> parameters;
    std::vector<Type> types;
    for (Value input : node.inputs) {
      parameters.push_back({static_cast<std::uint32_t>(types.size()), constant(input)});
      types.push_back(builder_.type(input));
    }
    const Graph first = fold(with_parameters(condition, types, parameters, all_of(1)), context_);
    const Node& holds = first.node(first.outputs()[0]);
    return holds.op == Op::constant && !holds.as<ConstantAttributes>().value.values<bool>()[0];
  }

  // Carries only the values that `kept` lists; the others are captured.
  Node capturing(Node node, std::span<const std::uint32_t> kept) const {
    std::vector<std::uint32_t> order(kept.begin(), kept.end());
    for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
      if (!std::ranges::count(kept, i)) order.push_back(i);
    }
    std::vector<NewParameter> parameters(order.size());
    std::vector<Type> types, carried;
    Values inputs;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      parameters[order[i]].index = i;
      inputs.push_back(node.inputs[order[i]]);
      types.push_back(builder_.type(inputs.back()));
      if (i < kept.size()) carried.push_back(types.back());
    }
    node.regions[0] = with_parameters(node.regions[0], types, parameters, all_of(1));
    node.regions[1] = with_parameters(node.regions[1], types, parameters, kept);
    node.inputs = std::move(inputs);
    node.types = std::move(carried);
    return node;
  }

  // Captured operands once each, and those that are constant scalars in the regions instead. The
  // first `before` inputs are no parameters, the next `carried` ones are not captured.
  Node tidy(Node node, std::size_t before, std::size_t carried) const {
    std::vector<NewParameter> parameters;
    std::vector<Type> types;
    Values inputs(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(before));
    std::map<Value, std::uint32_t> known;
    for (std::size_t i = before; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      NewParameter parameter{static_cast<std::uint32_t>(types.size()), nullptr};
      if (i >= before + carried) {
        parameter.constant = constant(input);
        if (!parameter.constant) {
          auto [place, added] = known.emplace(input, parameter.index);
          parameter.index = place->second;
          if (!added) {
            parameters.push_back(parameter);
            continue;
          }
        }
      }
      parameters.push_back(parameter);
      if (parameter.constant) continue;
      inputs.push_back(input);
      types.push_back(builder_.type(input));
    }
    if (inputs.size() == node.inputs.size()) return node;
    for (Graph& region : node.regions) {
      region = with_parameters(region, types, parameters, all_of(region.outputs().size()));
    }
    node.inputs = std::move(inputs);
    return node;
  }

  const Graph& graph_;
  PassContext& context_;
  GraphBuilder builder_;
};

bool has_control(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& node) { return is_control(node.op) || node.op == Op::check; });
}

}  // namespace

// A constant that has moved into a region may decide a branch there, and so on.
Graph simplify_control_flow(const Graph& given, PassContext& context) {
  Graph graph = given;
  while (has_control(graph)) {
    Graph next = Straightener(graph, context).run();
    if (next == graph) break;
    graph = std::move(next);
  }
  return graph;
}

}  // namespace anabranch
