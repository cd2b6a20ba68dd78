#include "passes/regions.h"

#include <numeric>

#include "passes/dce.h"

namespace anabranch {

Graph with_parameters(const Graph& region, std::span<const Type> types,
                      std::span<const NewParameter> parameters,
                      std::span<const std::uint32_t> outputs) {
  GraphBuilder builder(region.name());
  std::vector<Value> added, moved(region.nodes().size());
  for (const Type& type : types) added.push_back(builder.parameter(type));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const NewParameter& to = parameters[i];
    moved[i] = to.constant ? builder.constant(*to.constant) : added[to.index];
  }
  auto move = [&](Value value) {
    return Value{moved[value.node].node, moved[value.node].result + value.result};
  };
  for (std::size_t i = region.parameter_count(); i < region.nodes().size(); ++i) {
    Node node = region.nodes()[i];
    for (Value& input : node.inputs) input = move(input);
    moved[i] = builder.append(std::move(node));
  }
  std::vector<Value> results;
  for (std::uint32_t output : outputs) results.push_back(move(region.outputs()[output]));
  return without_dead_nodes(builder.build(std::move(results)));
}

std::vector<std::uint32_t> all_of(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace anabranch
