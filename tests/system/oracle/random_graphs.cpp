// 5,000 random graphs, each run in every way (ways.cpp) and held against the interpreter.
#include <gtest/gtest.h>

#include "check.h"
#include "ir/graph/verify.h"
#include "ir/text/print.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

constexpr int shards = 20;
constexpr int graphs_per_shard = static_cast<int>(random_graph_seeds) / shards;

class RandomGraphs : public ::testing::TestWithParam<int> {
 protected:
  RandomGraphs() { keep_code_in(code_.path()); }
  ~RandomGraphs() override { keep_code_in({}); }

 private:
  testing::TemporaryFolder code_;
};

TEST_P(RandomGraphs, GiveWhatTheInterpreterGives) {
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    const GraphCase tested = random_graph(seed);
    verify(tested.graph);
    const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
    for (const Way& way : ways()) {
      const auto wrong = problem(way, tested, expected);
      if (!wrong) continue;
      const GraphCase small =
          shrink(tested, [&](const GraphCase& part) { return problem(way, part).has_value(); });
      ADD_FAILURE() << "seed " << seed << ", " << way.name << ": " << *wrong << "\n"
                    << to_string(tested.graph) << "\nthe smallest part that fails: "
                    << problem(way, small).value_or("none, on its own") << "\n"
                    << describe(small);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGraphs, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
