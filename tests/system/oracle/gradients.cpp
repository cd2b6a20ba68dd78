// Random graphs with the gradients of their outputs: what is compiled gives what is interpreted,
// and the two modes of differentiation agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "anabranch/error.h"
#include "check.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/graph/verify.h"
#include "ir/text/print.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_literal.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

constexpr int shards = 10;
constexpr int graphs_per_shard = 200;
// Larger graphs take seconds in the interpreter, and hold nothing that smaller ones do not.
constexpr std::int64_t most_elements = 100'000;

std::int64_t elements_of(const Graph& graph) {
  std::int64_t all = 0;
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types) all += type.size();
  }
  return all;
}

// A transfer's cotangent stays where the result is.
bool spans_devices(const GraphCase& tested) {
  return std::ranges::any_of(devices_of(tested),
                             [](const auto& device) { return device && *device != Device(); });
}

std::vector<bool> differentiated_parameters(const Graph& graph) {
  std::vector<bool> active;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    active.push_back(has_tangent(graph.parameter_type(i).dtype));
  }
  return active;
}

// The outputs of the graph, then the gradients by all parameters of floats and complex numbers;
// further inputs are the cotangents of its outputs. Throws Error where an op has no derivative.
GraphCase with_gradients(const GraphCase& single, Random& random) {
  const ForwardAndLinear parts = vjp(single.graph, differentiated_parameters(single.graph));
  verify(parts.forward);
  verify(parts.linear);
  const std::size_t outputs = single.graph.outputs().size();
  const std::size_t residuals = parts.forward.outputs().size() - outputs;
  GraphCase made{Graph(), single.inputs, single.parameters};
  GraphBuilder builder(single.graph.name());
  GraphCopier forward(parts.forward, builder), linear(parts.linear, builder);
  for (std::uint32_t i = 0; i < parts.forward.parameter_count(); ++i) forward.copy(i);
  for (auto i = static_cast<std::uint32_t>(residuals); i < parts.linear.parameter_count(); ++i) {
    const Type type = parts.linear.parameter_type(i);
    linear.rename(i, builder.parameter(type));
    made.inputs.push_back(random_literal(random, type, Flavour::ordinary));
    if (!made.parameters.empty()) made.parameters.emplace_back();
  }
  forward.copy_body();
  for (std::uint32_t i = 0; i < residuals; ++i) {
    linear.rename(i, forward(parts.forward.outputs()[outputs + i]));
  }
  linear.copy_body();
  std::vector<Value> all = forward(parts.forward.outputs());
  all.resize(outputs);
  for (Value gradient : linear(parts.linear.outputs())) all.push_back(gradient);
  made.graph = builder.build(std::move(all));
  verify(made.graph);
  return made;
}

class RandomGradients : public ::testing::TestWithParam<int> {
 protected:
  RandomGradients() { keep_code_in(code_.path()); }
  ~RandomGradients() override { keep_code_in({}); }

 private:
  testing::TemporaryFolder code_;
};

TEST_P(RandomGradients, GiveWhatTheInterpreterGives) {
  int large = 0, without_parameters = 0, without_derivative = 0;
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    const GraphCase single = random_graph(seed);
    const std::vector<bool> active = differentiated_parameters(single.graph);
    if (elements_of(single.graph) > most_elements || spans_devices(single)) {
      ++large;
      continue;
    }
    if (std::ranges::count(active, true) == 0) {
      ++without_parameters;
      continue;
    }
    Random random(seed);
    GraphCase tested;
    try {
      tested = with_gradients(single, random);
    } catch (const Error& error) {
      const std::string_view what = error.what();
      const bool is_refused =
          what.find("has no derivative") != what.npos || what.find("full_matrices") != what.npos;
      EXPECT_TRUE(is_refused) << "seed " << seed << ": " << what;
      ++without_derivative;
      continue;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << describe(single);
      continue;
    }
    if (elements_of(tested.graph) > 10 * most_elements) {
      ++large;
      continue;
    }
    const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
    for (const std::size_t way : {1, 2, 3}) {
      const auto wrong = problem(ways()[way], tested, expected);
      if (!wrong) continue;
      const GraphCase small = shrink(
          tested, [&](const GraphCase& part) { return problem(ways()[way], part).has_value(); });
      ADD_FAILURE() << "seed " << seed << ", " << ways()[way].name << ": " << *wrong << "\n"
                    << to_string(single.graph) << "\nthe smallest part that fails: "
                    << problem(ways()[way], small).value_or("none, on its own") << "\n"
                    << describe(small);
      break;
    }
  }
  EXPECT_LT(large + without_parameters + without_derivative, graphs_per_shard / 2);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGradients, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
