#include "passes/sink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/fusion_plan.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/pointwise_loop.h"
#include "passes/costs.h"
#include "passes/dce.h"

namespace anabranch {
namespace {

constexpr std::size_t most_nodes = 16;  // of what is computed in place of a value
// Fewer places wait for each other's loads; rows that are multiples of this fall into a few sets of
// a cache.
constexpr std::int64_t least_places = 128, unlucky_row_bytes = 2048;
constexpr std::int64_t much_smaller = 8;  // times: an array that is as good as in a cache

double bytes(const Type& type) { return static_cast<double>(type.bytes()); }

/// How a captured value is computed: from constants, iotas and `operands`.
struct Recipe {
  std::set<std::uint32_t> nodes;
  std::vector<Value> operands;
  double operations = 0;
};

bool is_constant(const Node& node) {
  return node.op == Op::iota ||
         (node.op == Op::constant && node.as<ConstantAttributes>().value.is_splat());
}

// An index map that reads no element more often than it is asked for.
bool is_place(Op op) {
  return op == Op::broadcast_in_dim || op == Op::reshape || op == Op::transpose ||
         op == Op::reverse || op == Op::slice;
}

// Whether it puts elements in another order, but those of a row alone or backwards: to read them so
// takes as long.
bool turns_rows(const Node& node) {
  if (node.op != Op::transpose) return node.op == Op::reverse;
  const auto& axes = node.as<AxesAttributes>().axes;
  return !axes.empty() && axes.back() + 1 == std::ssize(axes);
}

// Whether it is an array that is turned round: no more is loaded, and nothing written before.
bool only_turns(const GraphBuilder& graph, const Recipe& recipe) {
  const auto node = [&](std::uint32_t at) -> const Node& { return graph.node({at, 0}); };
  return std::ranges::any_of(recipe.nodes, [&](auto at) { return turns_rows(node(at)); }) &&
         std::ranges::all_of(recipe.nodes, [&](auto at) {
           return node(at).op == Op::reshape || turns_rows(node(at));
         });
}

// The recipe of `value`, if it costs less than to load the value, or as much and what is loaded
// need not be written.
std::optional<Recipe> recipe_of(const GraphBuilder& graph, Value value) {
  const Type& type = graph.type(value);
  Recipe recipe;
  double loads = 0;
  std::vector<Value> open = {value};
  while (!open.empty()) {
    const Value next = open.back();
    open.pop_back();
    const Node& node = graph.node(next);
    const Type& at = graph.type(next);
    const bool is_cheap = is_place(node.op) || (is_elementwise(node.op) &&
                                                operations_per_element(node.op) < kept_operations);
    const bool is_small = next != value && at.size() * much_smaller <= type.size();
    if (!is_constant(node) && (!is_cheap || (is_small && !is_place(node.op)))) {
      const auto& known = recipe.operands;
      if (std::find(known.begin(), known.end(), next) != known.end()) continue;
      recipe.operands.push_back(next);
      loads += bytes(at);
      continue;
    }
    if (!recipe.nodes.insert(next.node).second) continue;
    if (recipe.nodes.size() > most_nodes) return std::nullopt;
    recipe.operations += operations_per_element(node.op);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  const double work = bytes_per_operation * recipe.operations * static_cast<double>(type.size());
  const bool pays =
      loads + work < bytes(type) || (loads <= bytes(type) && only_turns(graph, recipe));
  return pays && !recipe.nodes.empty() ? std::optional(recipe) : std::nullopt;
}

// Of a value that is an array turned round in any way.
std::optional<Recipe> turned_recipe(const GraphBuilder& graph, Value value) {
  Recipe recipe;
  bool turns = false;
  for (;; value = graph.node(value).inputs[0]) {
    const Op op = graph.node(value).op;
    if (op != Op::reshape && op != Op::transpose && op != Op::reverse) break;
    turns |= op != Op::reshape;
    recipe.nodes.insert(value.node);
  }
  recipe.operands.push_back(value);
  const Type& type = graph.type(value);
  const std::int64_t row = type.rank() == 0 ? 0 : type.shape[type.rank() - 1];
  if (row * static_cast<std::int64_t>(byte_size(type.dtype)) % unlucky_row_bytes == 0) {
    return std::nullopt;
  }
  return turns ? std::optional(recipe) : std::nullopt;
}

// Whether `body` reads the parameter in blocks that together, over all turns, are no more than the
// array.
bool is_read_in_blocks(const Graph& body, std::uint32_t parameter, std::int64_t turns) {
  const auto outputs = body.outputs();
  if (std::ranges::count(outputs, Value{parameter, 0}) > 0) return false;
  std::int64_t read = 0;
  for (const Node& node : body.nodes()) {
    if (std::ranges::count(node.inputs, Value{parameter, 0}) == 0) continue;
    if (node.op != Op::dynamic_slice) return false;
    read += node.types[0].size();
  }
  return read <= body.type({parameter, 0}).size() / std::max<std::int64_t>(turns, 1);
}

// Whether a region has to have a parameter, or what index ops make of it, in memory: it hands it
// on, or to what reads memory.
bool is_needed_in_memory(const Graph& region, std::uint32_t parameter) {
  std::vector<char> is_value(region.nodes().size());
  is_value[parameter] = true;
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    const Node& node = region.node(i);
    for (std::uint32_t k = 0; k < node.inputs.size(); ++k) {
      if (!is_value[node.inputs[k].node]) continue;
      if (is_elementwise(node.op) || is_reduction(node.op)) continue;
      if (is_index(node.op)) {
        is_value[i] = true;
        continue;
      }
      if (!is_control(node.op)) return true;
      const std::uint32_t before = node.op == Op::case_ ? 1 : 0;
      if (k < before || (node.op == Op::while_ && k < node.types.size())) return true;
      for (const Graph& inside : node.regions) {
        if (is_needed_in_memory(inside, k - before)) return true;
      }
    }
  }
  return std::ranges::any_of(region.outputs(), [&](Value output) { return is_value[output.node]; });
}

/// Writes the new graph; what a loop or a branch reads is written before it.
class Sinker {
 public:
  Sinker(const Graph& graph, PassContext& context)
      : graph_(graph), context_(context), builder_(graph.name()) {}

  Graph run() {
    GraphCopier copier(graph_, builder_);
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      if (is_control(graph_.node(i).op)) {
        Node node = copier.renamed(i);
        if (node.op == Op::while_) turn_blocks(i, node);
        copier.rename(i, builder_.append(sunk(std::move(node))));
      } else {
        copier.copy(i);
      }
    }
    return without_dead_nodes(builder_.build(copier(graph_.outputs())));
  }

 private:
  // Of a counted loop that is one kernel, whose threads may follow rows.
  std::optional<std::int64_t> pointwise_turns(std::uint32_t loop) const {
    if (!context_.follows_rows || !context_.follows_rows()) return std::nullopt;
    const auto found = pointwise_loop(graph_, graph_.node(loop));
    const auto* pointwise = std::get_if<PointwiseLoop>(&found);
    if (!pointwise || !pointwise->counted()) return std::nullopt;
    if (pointwise->domain.size() < least_places) return std::nullopt;
    return pointwise->counted()->count;
  }

  // Arrays that a loop of one kernel alone reads, a block in each turn, are turned round as they
  // are read: a thread's places follow each other in all of them, so that its cache holds the lines
  // until each element has been asked for.
  void turn_blocks(std::uint32_t loop, Node& node) {
    std::vector<std::optional<Recipe>> recipes(node.inputs.size());
    const auto any = [&] {
      return std::ranges::any_of(recipes, [](const auto& r) { return r.has_value(); });
    };
    for (std::size_t i = node.types.size(); i < node.inputs.size(); ++i) {
      recipes[i] = turned_recipe(builder_, node.inputs[i]);
      if (recipes[i] && !is_read_once(graph_.node(loop).inputs[i])) recipes[i].reset();
    }
    if (!any()) return;  // before the loop is looked at
    const std::optional<std::int64_t> turns = pointwise_turns(loop);
    if (!turns) return;
    for (std::size_t i = node.types.size(); i < node.inputs.size(); ++i) {
      const auto parameter = static_cast<std::uint32_t>(i);
      if (!is_read_in_blocks(node.regions[1], parameter, *turns)) recipes[i].reset();
    }
    if (any()) node = rewritten(std::move(node), 0, recipes);
  }

  bool is_read_once(Value value) const {
    auto reads = std::ranges::count(graph_.outputs(), value);
    for (const Node& node : graph_.nodes()) reads += std::ranges::count(node.inputs, value);
    return reads == 1;
  }

  // The regions first: what an inner loop no longer captures, the outer one need not hold. And once
  // more after each recipe: it computes values that an inner loop may compute for itself.
  Node sunk(Node node) {
    for (;;) {
      for (Graph& region : node.regions) region = sink(region, context_);
      if (!captures_less(node)) return node;
    }
  }

  // Computes in the regions what costs less there than to load it. Whether there was such a value.
  bool captures_less(Node& node) {
    const std::size_t before = node.op == Op::case_ ? 1 : 0;
    const std::size_t captured = before + (node.op == Op::while_ ? node.types.size() : 0);
    std::vector<std::optional<Recipe>> recipes(node.inputs.size());
    bool any = false;
    for (std::size_t i = captured; i < node.inputs.size(); ++i) {
      const auto parameter = static_cast<std::uint32_t>(i - before);
      if (std::any_of(node.regions.begin(), node.regions.end(), [&](const Graph& region) {
            return is_needed_in_memory(region, parameter);
          })) {
        continue;
      }
      recipes[i] = recipe_of(builder_, node.inputs[i]);
      any |= recipes[i].has_value();
    }
    if (any) node = rewritten(std::move(node), before, recipes);
    return any;
  }

  Node rewritten(Node node, std::size_t before, std::span<const std::optional<Recipe>> recipes) {
    std::vector<Value> inputs;
    std::map<Value, std::uint32_t> parameter_of;  // of what the regions still capture
    const auto capture = [&](Value value) {
      const auto next = static_cast<std::uint32_t>(inputs.size() - before);
      if (parameter_of.emplace(value, next).second) inputs.push_back(value);
    };
    std::vector<std::uint32_t> kept(node.inputs.size());
    const std::size_t captured = before + (node.op == Op::while_ ? node.types.size() : 0);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (recipes[i]) continue;
      kept[i] = static_cast<std::uint32_t>(inputs.size() - before);
      inputs.push_back(node.inputs[i]);
      if (i >= captured) parameter_of.emplace(node.inputs[i], kept[i]);
    }
    for (const auto& recipe : recipes) {
      if (!recipe) continue;
      for (Value operand : recipe->operands) capture(operand);
    }
    for (Graph& region : node.regions) {
      GraphBuilder made(region.name());
      for (std::size_t i = before; i < inputs.size(); ++i) made.parameter(builder_.type(inputs[i]));
      std::map<std::uint32_t, Value> computed;  // by node outside
      GraphCopier copier(region, made);
      for (std::size_t i = before; i < node.inputs.size(); ++i) {
        copier.rename(static_cast<std::uint32_t>(i - before),
                      recipes[i]
                          ? compute(*recipes[i], node.inputs[i], parameter_of, computed, made)
                          : Value{kept[i], 0});
      }
      copier.copy_body();
      region = without_dead_nodes(made.build(copier(region.outputs())));
    }
    node.inputs = std::move(inputs);
    return node;
  }

  Value compute(const Recipe& recipe, Value value,
                const std::map<Value, std::uint32_t>& parameter_of,
                std::map<std::uint32_t, Value>& computed, GraphBuilder& made) const {
    for (std::uint32_t at : recipe.nodes) {  // ascending: operands first
      if (computed.contains(at)) continue;
      Node node = builder_.node({at, 0});
      for (Value& input : node.inputs) {
        input = recipe.nodes.contains(input.node) ? computed.at(input.node)
                                                  : Value{parameter_of.at(input), 0};
      }
      computed[at] = made.append(std::move(node));
    }
    return computed.at(value.node);
  }

  const Graph& graph_;
  PassContext& context_;
  GraphBuilder builder_;
};

}  // namespace

Graph sink(const Graph& graph, PassContext& context) {
  const bool has_control = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                       [](const Node& node) { return is_control(node.op); });
  return has_control ? Sinker(graph, context).run() : graph;
}

}  // namespace anabranch
