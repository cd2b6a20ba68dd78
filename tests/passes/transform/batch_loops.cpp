#include "passes/transform/batch_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/random_builder.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

bool has_loop(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::while_; });
}

TEST(BatchLoops, OfRandomRowsGiveTheSame) {
  int loops = 0, batched = 0;
  for (std::uint64_t seed = 0; seed < 1'000 && !HasFailure(); ++seed) {
    RandomBuilder builder(seed);
    builder.parameter({builder.random_dtype(), builder.random_shape(200)});
    add_loop_over_rows(builder);
    const GraphCase given = builder.finish();
    if (!has_loop(given.graph)) continue;
    ++loops;
    PassContext context;
    const Graph after = batch_loops(given.graph, context);
    verify(after);
    batched += !has_loop(after);
    const std::vector<Literal> expected = interpret(given.graph, given.inputs);
    const std::vector<Literal> found = interpret(after, given.inputs);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      for (std::int64_t i = 0; i < expected[k].type().size() && !HasFailure(); ++i) {
        EXPECT_TRUE(is_within(expected[k], found[k], i, 0))
            << "seed " << seed << ", output " << k << "\n"
            << given.graph << after;
      }
    }
  }
  EXPECT_GT(batched, loops / 4);
  EXPECT_LT(batched, loops);
}

}  // namespace
}  // namespace anabranch
