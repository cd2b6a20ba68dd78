// Random chains in blocks: the interpreter gives what it gave before, and no large value is left.
#include "passes/row_blocks/row_blocks.h"

#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/support/attention_graphs.h"
#include "tests/support/compare.h"

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
