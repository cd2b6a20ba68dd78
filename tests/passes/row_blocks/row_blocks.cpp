// Random chains in blocks: the interpreter gives what it gave before, and no large value is left.
#include "passes/row_blocks/row_blocks.h"

#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "passes/placement.h"
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

Graph expect_same_in_blocks(const Graph& graph, std::int64_t cached_bytes) {
  Random random(1);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(random_literal(random, graph.parameter_type(i), Flavour::ordinary));
  }
  PassContext context = with_cache(cached_bytes);
  Graph after = row_blocks(graph, context);
  EXPECT_TRUE(has_loop(after));
  const auto wrong = difference(interpret_bounded(graph, inputs), interpret(after, inputs));
  EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(after);
  return after;
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
  expect_same_in_blocks(graph, 16);
}

// The chain of the smaller rows could compute again what the larger one does.
TEST(RowBlocks, OfChainsThatReadEachOther) {
  const Graph graph = parse(R"(
graph main(%0: f32[16,2], %1: f32[32,2], %2: f32[32,2], %3: f32[8,2], %4: f32[32,2], %5: f32[8,2]) {
  %6: f32[16,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[1]
  %7: f32[16] = reduce_max %6 axes=[1]
  %8: f32[16,32] = broadcast_in_dim %7 axes=[0]
  %9: f32[16,32] = subtract %6, %8
  %10: f32[16,32] = exponential %9
  %11: f32[16,2] = dot %10, %2 lhs_contracting=[1] rhs_contracting=[0]
  %12: f16[16,32] = convert %10
  %13: f32[8,32] = dot %3, %4 lhs_contracting=[1] rhs_contracting=[1]
  %14: f16[8,32] = slice %12 start=[3,0] limit=[11,32] stride=[1,1]
  %15: f32[8,32] = convert %14
  %16: f32[8,32] = multiply %13, %15
  %17: f32[32,2] = dot %16, %5 lhs_contracting=[0] rhs_contracting=[0]
  return %11, %17
})");
  expect_same_in_blocks(graph, 64);
}

TEST(RowBlocks, LeaveOutWhatNobodyReads) {
  const Graph graph = parse(R"(
graph unread(%0: f32[8,2], %1: f32[8,2], %2: f32[8,2]) {
  %3: f32[8,2] = tanh %0
  %4: f32[8,8] = dot %3, %1 lhs_contracting=[1] rhs_contracting=[1]
  %5: f32[8,8] = tanh %4
  %6: f32[8,2] = dot %5, %2 lhs_contracting=[1] rhs_contracting=[0]
  %7: f32[8,2] = sort %6 axis=0 descending=false
  return %0
})");
  PassContext context = with_cache(64);
  EXPECT_FALSE(has_loop(row_blocks(graph, context)));
}

// The zeros that two devices read are on neither.
TEST(RowBlocks, StayOnOneDevice) {
  const Graph graph = parse(R"(
graph two(%0: f32[8,2], %1: f32[8,2], %2: f32[8,2], %3: f32[8,2], %4: f32[8,2], %5: f32[8,2]) {
  %6: f32[] = constant 0
  %7: f32[8,8] = broadcast_in_dim %6 axes=[]
  %8: f32[8,8] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[1]
  %9: f32[8,8] = maximum %8, %7
  %10: f32[8,2] = dot %9, %2 lhs_contracting=[1] rhs_contracting=[0]
  %11: f32[8,8] = dot %3, %4 lhs_contracting=[1] rhs_contracting=[1]
  %12: f32[8,8] = maximum %11, %7
  %13: f32[8,2] = dot %12, %5 lhs_contracting=[1] rhs_contracting=[0]
  return %10, %13
})");
  const Graph after = expect_same_in_blocks(graph, 64);
  const Device near = Device::cpu(0), far = Device::cpu(1);
  EXPECT_NO_THROW(place(after, {near, near, near, far, far, far}, near));
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
