#include <gtest/gtest.h>

#include "ir/fusion_plan.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/costs.h"
#include "passes/pass.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

// What a graph costs, in bytes of memory traffic: arithmetic element by element, and what control
// nodes capture, which has to be in memory before they start.
double cost(const Graph& graph) {
  double sum = 0;
  for (const Node& node : graph.nodes()) {
    if (is_control(node.op)) {
      for (const Graph& region : node.regions) sum += cost(region);
      for (Value input : node.inputs) sum += static_cast<double>(graph.type(input).bytes());
      continue;
    }
    const Type& counted = is_reduction(node.op) ? graph.type(node.inputs[0]) : node.types[0];
    sum +=
        bytes_per_operation * operations_per_element(node.op) * static_cast<double>(counted.size());
  }
  return sum;
}

// What constants come to is not counted: `fold` computes it while the graph is compiled.
double cost_when_folded(const Graph& graph) {
  PassContext context;
  return cost(run_passes({&find_pass("fold"), 1}, graph, context));
}

// What a pass of rules may not do: add to what a graph costs, or do more if it runs again.
class RulePass : public testing::TestWithParam<const char*> {};

TEST_P(RulePass, AddsNoWorkAndIsDoneAfterOneRun) {
  const Pass& pass = find_pass(GetParam());
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) {
    const Graph before = random_graph(seed).graph;
    PassContext context;
    const Graph once = run_passes({&pass, 1}, before, context);
    EXPECT_LE(cost_when_folded(once), cost_when_folded(before) * (1 + 1e-12))
        << to_string(before) << to_string(once);
    const Graph twice = run_passes({&pass, 1}, once, context);
    EXPECT_EQ(twice, once) << to_string(once) << to_string(twice);
  }
}

// abs(x) * abs(x) = x * x, but for complex numbers, where both sides differ in dtype.
TEST(Rules, KeepTheTypeOfAResult) {
  const Graph graph = parse(
      "graph main(%0: c64[4]) { %1: f32[4] = abs %0 %2: f32[4] = multiply %1, %1 return %2 }");
  PassContext context;
  EXPECT_EQ(run_passes({&find_pass("simplify"), 1}, graph, context), graph);
}

INSTANTIATE_TEST_SUITE_P(Rules, RulePass,
                         testing::Values("canonicalize", "fold", "sink", "simplify",
                                         "simplify_control_flow", "cse", "dce"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace anabranch
