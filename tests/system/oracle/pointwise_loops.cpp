// Random pointwise loops, which are one kernel each, run in every way.
#include <gtest/gtest.h>

#include "check.h"
#include "tests/support/random_loop.h"

namespace anabranch {
namespace {

constexpr int shards = 4;
constexpr int loops_per_shard = 100;

class RandomLoops : public testing::TestWithParam<int> {};

TEST_P(RandomLoops, GiveWhatTheInterpreterGives) {
  for (int k = 0; k < loops_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * loops_per_shard + k);
    const GraphCase tested = random_pointwise_loop(seed);
    const auto expected = interpret_bounded(tested.graph, tested.inputs);
    for (const Way& way : ways()) {
      const auto wrong = problem(way, tested, expected);
      EXPECT_FALSE(wrong) << "seed " << seed << ": " << *wrong << "\n" << describe(tested);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomLoops, testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
