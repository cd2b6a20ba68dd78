#include "tests/support/random_transform.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/graph/verify.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/batch_check.h"

namespace anabranch::testing {
namespace {

// Random numbers for the parameters behind those that have inputs.
void complete(GraphCase& made, Random& random) {
  while (made.inputs.size() < made.graph.parameter_count()) {
    const Type& type = made.graph.parameter_type(made.inputs.size());
    made.inputs.push_back(random_literal(random, type, Flavour::ordinary));
    if (!made.parameters.empty()) made.parameters.emplace_back();
  }
}

GraphCase batched(const GraphCase& from, Random& random) {
  const std::int64_t size = random.percent(10) ? random.below(2) : 2 + random.below(2);
  std::vector<bool> which;
  for (std::size_t i = 0; i < from.inputs.size(); ++i) which.push_back(random.percent(70));
  which[static_cast<std::size_t>(random.below(std::ssize(which)))] = true;
  GraphCase made = batched_graph(batch_case(from.graph, size, which, from.inputs, random));
  made.parameters = from.parameters;
  return made;
}

// What the transforms say that they do not do; a convolution is split by passes alone, and by
// random graphs.
bool is_refusal(std::string_view what) {
  constexpr std::string_view refusals[] = {"has no derivative", "full_matrices", "feature_splits"};
  return std::ranges::any_of(
      refusals, [&](std::string_view each) { return what.find(each) != std::string_view::npos; });
}

}  // namespace

std::string to_string(std::span<const Transform> transforms) {
  std::string text;
  for (Transform each : transforms) {
    text += text.empty() ? "" : ", ";
    text += each == Transform::gradients  ? "gradients"
            : each == Transform::tangents ? "tangents"
                                          : "batch";
  }
  return text;
}

std::vector<bool> differentiated_parameters(const Graph& graph) {
  std::vector<bool> active;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    active.push_back(has_tangent(graph.parameter_type(i).dtype));
  }
  return active;
}

bool spans_devices(const GraphCase& tested) {
  return std::ranges::any_of(devices_of(tested),
                             [](const auto& device) { return device && *device != Device(); });
}

std::int64_t elements_of(const Graph& graph) {
  std::int64_t all = 0;
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types) all += type.size();
    for (const Graph& region : node.regions) all += elements_of(region);
  }
  return all;
}

GraphCase with_gradients(const GraphCase& from, Random& random) {
  const ForwardAndLinear parts = vjp(from.graph, differentiated_parameters(from.graph));
  verify(parts.forward);
  verify(parts.linear);
  const std::size_t outputs = from.graph.outputs().size();
  const std::size_t residuals = parts.forward.outputs().size() - outputs;
  GraphBuilder builder(from.graph.name());
  GraphCopier forward(parts.forward, builder), linear(parts.linear, builder);
  for (std::uint32_t i = 0; i < parts.forward.parameter_count(); ++i) forward.copy(i);
  for (auto i = static_cast<std::uint32_t>(residuals); i < parts.linear.parameter_count(); ++i) {
    linear.rename(i, builder.parameter(parts.linear.parameter_type(i)));
  }
  forward.copy_body();
  std::vector<Value> all = forward(parts.forward.outputs());
  for (std::uint32_t i = 0; i < residuals; ++i) linear.rename(i, all[outputs + i]);
  linear.copy_body();
  all.resize(outputs);
  for (Value gradient : linear(parts.linear.outputs())) all.push_back(gradient);
  GraphCase made{builder.build(std::move(all)), from.inputs, from.parameters};
  complete(made, random);
  return made;
}

GraphCase with_tangents(const GraphCase& from, Random& random) {
  GraphCase made{jvp(from.graph, differentiated_parameters(from.graph)).graph, from.inputs,
                 from.parameters};
  complete(made, random);
  return made;
}

std::optional<GraphCase> transformed(GraphCase from, std::span<const Transform> transforms,
                                     Random& random, std::int64_t most_elements) {
  if (spans_devices(from) || elements_of(from.graph) > most_elements) return std::nullopt;
  for (Transform transform : transforms) {
    if (from.inputs.empty()) return std::nullopt;
    if (transform == Transform::batch) {
      from = batched(from, random);
    } else {
      if (std::ranges::count(differentiated_parameters(from.graph), true) == 0) return std::nullopt;
      try {
        from = transform == Transform::gradients ? with_gradients(from, random)
                                                 : with_tangents(from, random);
      } catch (const std::exception& error) {
        if (!is_refusal(error.what())) throw;
        return std::nullopt;
      }
    }
    verify(from.graph);
    if (elements_of(from.graph) > most_elements) return std::nullopt;
  }
  return from;
}

}  // namespace anabranch::testing
