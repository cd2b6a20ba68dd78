// Branches taken apart, and functions that are computed again.
#include <algorithm>

#include "ir/attributes.h"
#include "passes/dce.h"
#include "passes/transform/linearize.h"
#include "passes/transform/quantity.h"
#include "passes/transform/splitter.h"
#include "passes/transform/transpose.h"

namespace anabranch {

// The known branches give what the linear ones of any need; zeros stand for what others do.
void Splitter::branch(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear, gives(node.types.size());
  for (std::size_t i = 1; i < node.inputs.size(); ++i) linear.push_back(is_linear(node.inputs[i]));
  for (const Graph& region : node.regions) {
    const Linearized made = linearize(region, linear);
    for (std::size_t i = 0; i < gives.size(); ++i) gives[i] = gives[i] || made.is_linear[i];
  }
  std::vector<Linearized> branches;
  std::vector<Type> residual_types;
  std::vector<std::size_t> firsts;
  const auto known_count = static_cast<std::size_t>(std::count(gives.begin(), gives.end(), false));
  for (const Graph& region : node.regions) {
    branches.push_back(linearize(region, linear, gives));
    firsts.push_back(residual_types.size());
    const Graph& known = branches.back().known;
    for (std::size_t i = known_count; i < known.outputs().size(); ++i) {
      residual_types.push_back(known.output_type(i));
    }
  }
  std::vector<Value> known_operands = {known_copier_(node.inputs[0])};
  std::vector<Value> linear_operands = {residual(known_operands[0])};
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const Value input = node.inputs[i + 1];
    if (linear[i]) {
      linear_operands.push_back(in_linear(input));
    } else {
      known_operands.push_back(known_copier_(input));
    }
  }
  std::vector<Graph> known_regions, linear_regions;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    GraphBuilder known(node.regions[b].name());
    GraphCopier copier(branches[b].known, known);
    for (std::uint32_t i = 0; i < branches[b].known.parameter_count(); ++i) copier.copy(i);
    copier.copy_body();
    std::vector<Value> outputs = copier(branches[b].known.outputs().first(known_count));
    const std::size_t own = branches[b].known.outputs().size() - known_count;
    for (std::size_t i = 0; i < residual_types.size(); ++i) {
      const bool is_own = i >= firsts[b] && i < firsts[b] + own;
      outputs.push_back(is_own ? copier(branches[b].known.outputs()[known_count + i - firsts[b]])
                               : Quantity::zeros(known, residual_types[i]).value);
    }
    known_regions.push_back(known.build(std::move(outputs)));

    GraphBuilder step(node.regions[b].name());
    const Graph& of_linear = branches[b].linear;
    GraphCopier step_copier(of_linear, step);
    const auto linear_count =
        static_cast<std::uint32_t>(std::count(linear.begin(), linear.end(), true));
    for (std::uint32_t i = 0; i < linear_count; ++i) step_copier.copy(i);
    for (std::size_t i = 0; i < residual_types.size(); ++i) {
      const Value parameter = step.parameter(residual_types[i]);
      if (i >= firsts[b] && i < firsts[b] + own) {
        step_copier.rename(linear_count + index_of(i - firsts[b]), parameter);
      }
    }
    step_copier.copy_body();
    linear_regions.push_back(step.build(step_copier(of_linear.outputs())));
  }
  Value known;
  if (known_count + residual_types.size() > 0) {
    known = known_.add(node.op, std::move(known_operands), node.attributes, std::nullopt,
                       std::move(known_regions), node.location);
  }
  if (known_count == gives.size()) return place_results(index, gives, known, {});
  for (std::size_t i = 0; i < residual_types.size(); ++i) {
    linear_operands.push_back(residual({known.node, index_of(known_count + i)}));
  }
  const Value made = linear_.add(node.op, std::move(linear_operands), node.attributes, std::nullopt,
                                 std::move(linear_regions), node.location);
  place_results(index, gives, known, made);
}

// --- functions that are computed again -----------------------------------------------------------

namespace {

// The results of products that depend on nothing linear.
std::vector<Value> known_products(const Graph& region, const Flags& linear) {
  const Flags is_linear = linear_nodes(region, linear);
  std::vector<Value> products;
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    if (is_library(region.node(i).op) && !is_linear[i]) products.push_back({i, 0});
  }
  return products;
}

// `region` with these outputs; the results of `given` are parameters behind its own.
Graph with_outputs(const Graph& region, const std::vector<Value>& outputs,
                   const std::vector<Value>& given) {
  GraphBuilder builder(region.name());
  GraphCopier copier(region, builder);
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) copier.copy(i);
  for (Value value : given) copier.rename(value, builder.parameter(region.type(value)));
  for (std::uint32_t i = index_of(region.parameter_count()); i < region.nodes().size(); ++i) {
    const bool is_given = std::find(given.begin(), given.end(), Value{i, 0}) != given.end();
    if (!is_given) copier.copy(i);
  }
  return without_dead_nodes(builder.build(copier(outputs)));
}

}  // namespace

// The linear function takes all operands, and computes again what it needs of them but for the
// products that are kept.
void Splitter::checkpoint(std::uint32_t index) {
  const Node& node = graph_.node(index);
  const Graph& region = node.regions[0];
  CompositeAttributes attributes = node.as<CompositeAttributes>();
  Flags linear;
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  std::vector<Value> products;
  if (attributes.rule == CompositeRule::checkpoint_dots) products = known_products(region, linear);
  std::vector<Value> outputs(region.outputs().begin(), region.outputs().end());
  outputs.insert(outputs.end(), products.begin(), products.end());
  const Linearized parts = linearize(with_outputs(region, outputs, {}), linear);
  const Flags gives(parts.is_linear.begin(),
                    parts.is_linear.begin() + static_cast<std::ptrdiff_t>(node.types.size()));
  const auto known_count =
      static_cast<std::size_t>(std::count(parts.is_linear.begin(), parts.is_linear.end(), false));
  Value known{};
  if (known_count > 0) {
    const auto own = parts.known.outputs().first(known_count);
    std::vector<Value> operands;
    for (std::size_t i = 0; i < linear.size(); ++i) {
      if (!linear[i]) operands.push_back(known_copier_(node.inputs[i]));
    }
    attributes.arguments = static_cast<std::int64_t>(operands.size());
    known = known_.add(node.op, std::move(operands), attributes, std::nullopt,
                       {with_outputs(parts.known, {own.begin(), own.end()}, {})}, node.location);
  }
  std::vector<Value> linear_outputs;
  for (std::size_t i = 0; i < gives.size(); ++i) {
    if (gives[i]) linear_outputs.push_back(region.outputs()[i]);
  }
  if (linear_outputs.empty()) return place_results(index, gives, known, {});
  std::vector<Value> operands;
  for (Value input : node.inputs) operands.push_back(in_linear(input));
  for (std::size_t i = 0; i < products.size(); ++i) {
    operands.push_back(residual({known.node, index_of(known_count - products.size() + i)}));
  }
  attributes.arguments = static_cast<std::int64_t>(operands.size());
  const Value made = linear_.add(node.op, std::move(operands), attributes, std::nullopt,
                                 {with_outputs(region, linear_outputs, products)}, node.location);
  place_results(index, gives, known, made);
}

}  // namespace anabranch
