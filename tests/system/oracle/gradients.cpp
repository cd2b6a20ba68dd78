// Random graphs, differentiated: the forward and the backward pass in one graph, compiled, give
// what they give when they are interpreted; and the tangents of the forward mode agree with the
// cotangents of the reverse one.
#include <gtest/gtest.h>

#include <algorithm>

#include "anabranch/error.h"
#include "check.h"
#include "ir/graph/copier.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

constexpr int shards = 10;
constexpr int graphs_per_shard = 200;
// Larger graphs take minutes in the interpreter, and hold nothing that smaller ones do not.
constexpr std::int64_t most_elements = 100'000;

class RandomGradients : public ::testing::TestWithParam<int> {};

std::int64_t elements_of(const Graph& graph) {
  std::int64_t all = 0;
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types) all += type.size();
    for (const Graph& region : node.regions) all += 8 * elements_of(region);
  }
  return all;
}

// The outputs and the gradients: parameters are the graph's, then a cotangent per output that
// depends on one of them.
Graph gradients_of(const Graph& graph, const std::vector<bool>& active) {
  const ForwardAndLinear parts = vjp(graph, active);
  GraphBuilder builder("gradients");
  GraphCopier forward(parts.forward, builder), backward(parts.linear, builder);
  for (std::uint32_t i = 0; i < parts.forward.parameter_count(); ++i) forward.copy(i);
  std::vector<Value> cotangents;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (parts.active[i]) cotangents.push_back(builder.parameter(graph.output_type(i)));
  }
  forward.copy_body();
  std::vector<Value> outputs = forward(parts.forward.outputs());
  std::uint32_t parameter = 0;
  for (std::size_t i = graph.outputs().size(); i < outputs.size(); ++i) {
    backward.rename(parameter++, outputs[i]);
  }
  for (Value cotangent : cotangents) backward.rename(parameter++, cotangent);
  backward.copy_body();
  outputs.resize(graph.outputs().size());
  for (Value gradient : backward(parts.linear.outputs())) outputs.push_back(gradient);
  return builder.build(std::move(outputs));
}

// Whether a graph calls a function of the user's, which has no derivative, or spans devices: what
// comes back to a device in the backward pass is not moved there.
bool is_left_out(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return node.op == Op::custom_call || node.op == Op::transfer ||
           std::any_of(node.regions.begin(), node.regions.end(), is_left_out);
  });
}

TEST_P(RandomGradients, CompiledGiveWhatInterpretedOnesGive) {
  int checked = 0;
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    GraphCase tested = random_graph(seed);
    if (is_left_out(tested.graph) || elements_of(tested.graph) > most_elements) continue;
    std::vector<bool> active;
    for (const Literal& input : tested.inputs) active.push_back(has_tangent(input.type().dtype));
    if (std::find(active.begin(), active.end(), true) == active.end()) continue;
    const std::size_t own = tested.inputs.size();
    try {
      tested.graph = gradients_of(tested.graph, active);
    } catch (const InternalError& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << to_string(tested.graph).substr(0, 6000);
      continue;
    } catch (const Error& error) {
      const std::string what = error.what();
      const bool is_refused = what.find("has no derivative") != std::string::npos ||
                              what.find("svd") != std::string::npos;
      EXPECT_TRUE(is_refused) << "seed " << seed << ": " << what;
      continue;
    }
    Random random(seed);
    for (std::size_t i = own; i < tested.graph.parameter_count(); ++i) {
      tested.inputs.push_back(
          random_literal(random, tested.graph.parameter_type(i), Flavour::ordinary));
    }
    tested.parameters = {};
    const auto wrong = problem(ways()[2], tested);
    EXPECT_FALSE(wrong) << "seed " << seed << ": " << wrong->substr(0, 3000);
    ++checked;
  }
  EXPECT_GT(checked, graphs_per_shard / 2);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGradients, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
