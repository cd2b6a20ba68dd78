#include "passes/transform/vjp.h"

#include <algorithm>

#include "passes/dce.h"
#include "passes/regions.h"
#include "passes/transform/jvp.h"
#include "passes/transform/linearize.h"
#include "passes/transform/transpose.h"

namespace anabranch {
namespace {

std::size_t count_of(const std::vector<bool>& marks) {
  return static_cast<std::size_t>(std::count(marks.begin(), marks.end(), true));
}

// The first `count` parameters after the others.
Graph with_parameters_last(const Graph& graph, std::size_t count) {
  const std::size_t all = graph.parameter_count();
  std::vector<Type> types(all);
  std::vector<NewParameter> places(all);
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t place = i < count ? i + all - count : i - count;
    places[i].index = static_cast<std::uint32_t>(place);
    types[place] = graph.parameter_type(i);
  }
  return with_parameters(graph, types, places, all_of(graph.outputs().size()));
}

}  // namespace

ForwardAndLinear linear_part(const Graph& graph, const std::vector<bool>& active) {
  Jvp pushed = jvp(graph, active);
  const std::size_t tangents = count_of(active);
  std::vector<bool> linear(graph.parameter_count(), false), required(graph.outputs().size(), false);
  linear.resize(linear.size() + tangents, true);
  required.resize(pushed.graph.outputs().size(), true);
  Linearized parts = linearize(pushed.graph, linear, required);
  return {without_dead_nodes(parts.known), with_parameters_last(parts.linear, tangents),
          std::move(pushed.active)};
}

ForwardAndLinear vjp(const Graph& graph, const std::vector<bool>& active,
                     const std::vector<bool>& asked) {
  ForwardAndLinear parts = linear_part(graph, active);
  const std::size_t tangents = count_of(active);
  Transposition what;
  what.linear.resize(parts.linear.parameter_count() - tangents, false);
  what.linear.resize(parts.linear.parameter_count(), true);
  for (std::size_t i = 0; i < parts.active.size(); ++i) {
    if (!parts.active[i]) continue;
    parts.active[i] = asked.empty() || asked[i];
    what.outputs.push_back(parts.active[i]);
  }
  parts.linear = transpose(parts.linear, what);
  return parts;
}

}  // namespace anabranch
