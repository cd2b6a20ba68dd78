#include <gtest/gtest.h>

#include "ir/plan_fusion.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

// Every pass alone, and all of them together, on random graphs.
class RandomGraph : public testing::TestWithParam<int> {};

TEST_P(RandomGraph, MeansTheSameAfterEveryPass) {
  const GraphCase tested = random_graph(static_cast<std::uint64_t>(GetParam()));
  const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
  auto check = [&](Pipeline pipeline, std::string_view name) {
    PassContext context{.parameters = tested.parameters};
    PassRun checked;
    checked.verify = true;
    const Graph after = run_passes(pipeline, tested.graph, context, checked);
    auto wrong = difference(expected, interpret(after, tested.inputs));
    EXPECT_FALSE(wrong) << name << ": " << *wrong << "\n"
                        << to_string(tested.graph) << to_string(after);
  };
  for (const Pass& pass : all_passes()) check({&pass, 1}, pass.name);
  check(default_pipeline(), "all");
}

void expect_kernels(const Graph& fused) {
  for (const Node& node : fused.nodes()) {
    if (is_control(node.op)) {
      for (const Graph& region : node.regions) expect_kernels(region);
      continue;
    }
    if (node.op != Op::fusion) {
      EXPECT_TRUE(node.op == Op::parameter || node.op == Op::constant || node.op == Op::reshape ||
                  node.op == Op::dynamic_update_slice || is_call(node.op))
          << name(node.op);
      continue;
    }
    auto plan = plan_fusion(node.regions[0]);
    ASSERT_TRUE(std::holds_alternative<FusionPlan>(plan)) << std::get<std::string>(plan);
    EXPECT_EQ(std::get<FusionPlan>(plan).kind, node.as<FusionAttributes>().kind);
  }
}

TEST_P(RandomGraph, FusesIntoWhatTheLoweringTakes) {
  const GraphCase tested = random_graph(static_cast<std::uint64_t>(GetParam()));
  PassContext context;
  expect_kernels(run_passes(default_pipeline(), tested.graph, context));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, testing::Range(0, 150));

}  // namespace
}  // namespace anabranch
