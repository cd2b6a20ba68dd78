// Chains in blocks of rows, compiled: they give what the interpreter gives for the graph as it was
// written, the same bits each time, and hold no large value in memory.
#include <gtest/gtest.h>

#include "anabranch/devices.h"
#include "check.h"
#include "codegen/compile.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "tests/support/attention_graphs.h"

namespace anabranch {
namespace {

class BlockedChains : public ::testing::TestWithParam<int> {};

TEST_P(BlockedChains, GiveWhatTheInterpreterGives) {
  constexpr int chains_per_shard = 20;
  for (int k = 0; k < chains_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * chains_per_shard + k);
    GraphCase tested = attention_graph(seed);
    const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
    PassContext context;
    context.block_costs = [&] { return BlockCosts{.cached_bytes = seed % 2 == 0 ? 16 : 100}; };
    const std::vector<std::string> later = {"fuse", "outline"};
    tested.graph = run_passes(default_pipeline(), tested.graph, context, {.disabled = later});
    for (const Way& way : ways()) {
      const auto wrong = problem(way, tested, expected);
      EXPECT_FALSE(wrong) << "seed " << seed << ", " << way.name << ": " << *wrong << "\n"
                          << describe(tested);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, BlockedChains, ::testing::Range(0, 4));

// 12 heads of 64 features, 4,096 tokens: a matrix of scores takes 64 MiB a head.
constexpr const char* attention =
    R"(graph attention(%0: f32[12,4096,64], %1: f32[12,4096,64], %2: f32[12,4096,64]) {
  %3: f32[12,4096,4096] = dot %0, %1 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[2]
  %4: f32[12,4096] = reduce_max %3 axes=[2]
  %5: f32[12,4096,4096] = broadcast_in_dim %4 axes=[0,1]
  %6: f32[12,4096,4096] = subtract %3, %5
  %7: f32[12,4096,4096] = exponential %6
  %8: f32[12,4096] = reduce_sum %7 axes=[2]
  %9: f32[12,4096,4096] = broadcast_in_dim %8 axes=[0,1]
  %10: f32[12,4096,4096] = divide %7, %9
  %11: f32[12,4096,64] = dot %10, %2 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[1]
  return %11
})";

TEST(BlockedAttention, HoldsNoMatrixOfScores) {
  constexpr std::size_t scores = 4096UL * 4096 * 4;
  const Graph forward = parse(attention);
  for (const Graph& graph : {forward, with_gradients(forward)}) {
    Options options;
    options.device = Device::cpu();
    const std::size_t blocked = memory(compile(graph, options)).temporaries;
    options.disabled = {"row_blocks"};
    const std::size_t whole = memory(compile(graph, options)).temporaries;
    EXPECT_GT(whole, 12 * scores) << graph.name();
    EXPECT_LT(3 * blocked, whole) << graph.name();
    // Each core has blocks of its own.
    if (cores(Device::cpu()).count <= 4) {
      EXPECT_LT(blocked, scores) << graph.name();
    }
  }
}

}  // namespace
}  // namespace anabranch
