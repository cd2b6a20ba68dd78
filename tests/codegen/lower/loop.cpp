#include <gtest/gtest.h>

#include "passes/fusion/fuse.h"
#include "passes/split_carries.h"
#include "tests/support/check_lowering.h"
#include "tests/support/random_loop.h"

namespace anabranch::testing {
namespace {

/// The fusion of kind loop in `graph` after `fuse`; null where there is none.
const Node* fused_loop_of(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::fusion) continue;
    if (node.as<FusionAttributes>().kind == FusionKind::loop) return &node;
  }
  return nullptr;
}

TEST(LowerLoop, RandomLoopsGiveWhatTheInterpreterGives) {
  int loops = 0;
  constexpr int cases = 600;
  for (std::uint64_t seed = 0; seed < cases && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    PassContext context;
    const Graph fused = fuse(split_carries(random_pointwise_loop(seed).graph, context), context);
    const Node* loop = fused_loop_of(fused);
    if (!loop) continue;
    ++loops;
    expect_lowers(loop->regions[0]);
  }
  EXPECT_GT(loops, cases / 2);
}

}  // namespace
}  // namespace anabranch::testing
