// Branches taken apart.
#include <algorithm>

#include "ir/attributes.h"
#include "passes/transform/linear_operands.h"
#include "passes/transform/linearize.h"
#include "passes/transform/quantity.h"
#include "passes/transform/splitter.h"

namespace anabranch {

// The known branches give what the linear ones of any need; zeros stand for what others do.
void Splitter::branch(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear, gives(node.types.size());
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  check_linear(node, linear);
  linear.erase(linear.begin());  // of the number
  std::vector<Linearized> branches;
  for (const Graph& region : node.regions) {
    branches.push_back(linearize(region, linear));
    for (std::size_t i = 0; i < gives.size(); ++i) {
      gives[i] = gives[i] || branches.back().is_linear[i];
    }
  }
  std::vector<Type> residual_types;
  std::vector<std::size_t> firsts;
  const auto known_count = static_cast<std::size_t>(std::count(gives.begin(), gives.end(), false));
  for (std::size_t b = 0; b < branches.size(); ++b) {
    if (branches[b].is_linear != gives) branches[b] = linearize(node.regions[b], linear, gives);
    firsts.push_back(residual_types.size());
    const Graph& known = branches[b].known;
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

}  // namespace anabranch
