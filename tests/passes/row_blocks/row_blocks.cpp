// Random chains in blocks: the interpreter gives what it gave before, and no large value is left.
#include "passes/row_blocks/row_blocks.h"

#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/support/attention_graphs.h"
#include "tests/support/compare.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

PassContext with_cache(std::int64_t bytes) {
  PassContext context;
  context.block_costs = [bytes] { return BlockCosts{.cached_bytes = bytes}; };
  return context;
}

bool has_loop(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::while_; });
}

TEST(RowBlocks, OfRandomChainsGiveTheSame) {
  int blocked = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const GraphCase tested = attention_graph(seed);
    const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
    for (const std::int64_t bytes : {16, 100}) {
      PassContext context = with_cache(bytes);
      const Graph after =
          run_passes(default_pipeline(), tested.graph, context,
                     {.verify = true, .disabled = std::vector<std::string>{"fuse", "outline"}});
      blocked += has_loop(after);
      const auto wrong = difference(expected, interpret(after, tested.inputs));
      EXPECT_FALSE(wrong) << "seed " << seed << ", " << bytes << " bytes: " << *wrong << "\n"
                          << to_string(tested.graph) << to_string(after);
    }
  }
  EXPECT_GT(blocked, 400);
}

// What all heads share is small beside all scores, and large beside those of one head.
TEST(RowBlocks, OfAnOperandThatIsReadInTwoWays) {
  const Graph graph = parse(R"(
graph both(%0: f32[3,8,2], %1: f32[3,8,2], %2: f32[8,8], %3: f32[3,8,2]) {
  %4: f32[3,8,8] = dot %0, %1 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[2]
  %5: f32[3,8,8] = broadcast_in_dim %2 axes=[1,2]
  %6: f32[3,8,8] = broadcast_in_dim %2 axes=[2,1]
  %7: f32[3,8,8] = add %4, %5
  %8: f32[3,8,8] = add %7, %6
  %9: f32[3,8,8] = tanh %8
  %10: f32[3,8,2] = dot %9, %3 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[1]
  return %10
})");
  Random random(1);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(random_literal(random, graph.parameter_type(i), Flavour::ordinary));
  }
  PassContext context = with_cache(16);
  const Graph after = row_blocks(graph, context);
  EXPECT_TRUE(has_loop(after));
  EXPECT_FALSE(difference(interpret_bounded(graph, inputs), interpret(after, inputs)));
}

TEST(RowBlocks, AreLeftOutWhereNoDeviceAsksForThem) {
  const GraphCase tested = attention_graph(0);
  PassContext context;
  EXPECT_EQ(row_blocks(tested.graph, context), tested.graph);
  context.block_costs = [] { return BlockCosts{}; };
  EXPECT_EQ(row_blocks(tested.graph, context), tested.graph);
}

// A layer between two wide ones: what is saved is little beside the products, and the weights would
// be read by every turn.
TEST(RowBlocks, AreLeftOutWhereTheyDoNotPay) {
  const Graph layers =
      parse(R"(graph layers(%0: f32[4096,512], %1: f32[512,2048], %2: f32[2048,512]) {
    %3: f32[4096,2048] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
    %4: f32[4096,2048] = tanh %3
    %5: f32[4096,512] = dot %4, %2 lhs_contracting=[1] rhs_contracting=[0]
    return %5
  })");
  BlockCosts costs{.cached_bytes = 4 << 20, .least_rows = 128, .memory_ns_per_byte = 0.08};
  PassContext context;
  context.block_costs = [&] { return costs; };
  EXPECT_TRUE(has_loop(row_blocks(layers, context)));
  costs.operation_ns = 1.0 / 160;
  EXPECT_FALSE(has_loop(row_blocks(layers, context)));
  costs.operation_ns = 0;
  costs.step_ns = 1e6;
  EXPECT_FALSE(has_loop(row_blocks(layers, context)));
  costs.step_ns = 0;
  costs.uncached_bytes = 64 << 20;
  EXPECT_FALSE(has_loop(row_blocks(layers, context)));
}

}  // namespace
}  // namespace anabranch
