#include "passes/regions.h"

#include <numeric>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/text/print.h"

namespace anabranch {

std::vector<char> needed_nodes(const Graph& graph, std::span<const Value> values) {
  std::vector<char> needed(graph.nodes().size(), 0);
  for (Value value : values) needed[value.node] = 1;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (Value input : graph.nodes()[i].inputs) needed[input.node] = 1;
  }
  return needed;
}

Graph with_parameters(const Graph& region, std::span<const Type> types,
                      std::span<const NewParameter> parameters,
                      std::span<const std::uint32_t> outputs) {
  std::vector<Value> wanted;
  for (std::uint32_t output : outputs) wanted.push_back(region.outputs()[output]);
  const std::vector<char> needed = needed_nodes(region, wanted);
  GraphBuilder builder(region.name());
  GraphCopier copier(region, builder);
  std::vector<Value> added;
  for (const Type& type : types) added.push_back(builder.parameter(type));
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const NewParameter& to = parameters[i];
    if (!needed[i]) continue;
    if (!to.constant && to.index == NewParameter::nothing) {
      throw InternalError("regions", "%" + std::to_string(i) + " goes, and is needed",
                          to_string(region));
    }
    copier.rename(i, to.constant ? builder.constant(*to.constant) : added.at(to.index));
  }
  for (auto i = static_cast<std::uint32_t>(parameters.size()); i < region.nodes().size(); ++i) {
    if (needed[i]) copier.copy(i);
  }
  std::vector<Value> results;
  for (std::uint32_t output : outputs) results.push_back(copier(region.outputs()[output]));
  return builder.build(std::move(results));
}

std::vector<std::uint32_t> all_of(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace anabranch
