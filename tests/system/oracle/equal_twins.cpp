// Random graphs and the same rewritten by random valid identities: whatever a graph is called, its
// results are the same.
#include <gtest/gtest.h>

#include <map>

#include "check.h"
#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/equal_twin.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

constexpr int shards = 10;
constexpr int twins_per_shard = 50;
constexpr std::uint64_t first_seed = 50'000;  // other graphs than those of random_graphs.cpp

// The same bits, where there is one right answer.
std::vector<Bounded> exactly(std::vector<Bounded> expected) {
  for (Bounded& output : expected) {
    const auto bounds = output.bound.values<double>();
    std::vector<double> exact(bounds.begin(), bounds.end());
    for (double& bound : exact) bound = bound == unknown ? unknown : 0;
    output.bound = Literal::of(std::span<const double>(exact), output.bound.type().shape);
  }
  return expected;
}

std::string texts(const GraphCase& original, const EqualTwin& twin) {
  std::string text = describe(original) + describe(twin.twin);
  for (std::string_view equation : twin.equations) text += "# " + std::string(equation) + "\n";
  return text;
}

// What is wrong with the twin, in words; nothing where it gives what the original gives. One kernel
// an op takes most of the time, so not all are compiled like that.
std::optional<std::string> disagreement(const GraphCase& original, const EqualTwin& twin,
                                        bool unfused) {
  const std::vector<Bounded> expected = interpret_bounded(original.graph, original.inputs);
  const auto wrong = difference(exactly(expected), interpret(twin.twin.graph, twin.twin.inputs));
  if (wrong) return "interpreted: " + *wrong + "\n" + texts(original, twin);
  for (const Way& way : ways()) {
    if (!unfused && way.name.find("without fusion") != std::string_view::npos) continue;
    const bool of_both = way.name == "compiled for 1 stream";
    for (const GraphCase* tested : {&original, &twin.twin}) {
      if (tested == &original && !of_both) continue;
      const auto different = problem(way, *tested, expected);
      if (!different) continue;
      const GraphCase small =
          shrink(*tested, [&](const GraphCase& part) { return problem(way, part).has_value(); });
      return std::string(way.name) + ": " + *different + "\n" + texts(original, twin) +
             "\nthe smallest part that fails: " + problem(way, small).value_or("none, on its own") +
             "\n" + describe(small);
    }
  }
  return std::nullopt;
}

class EqualTwins : public ::testing::TestWithParam<int> {
 protected:
  EqualTwins() { keep_code_in(code_.path()); }
  ~EqualTwins() override { keep_code_in({}); }

 private:
  testing::TemporaryFolder code_;
};

TEST_P(EqualTwins, Agree) {
  for (int k = 0; k < twins_per_shard; ++k) {
    const std::uint64_t seed =
        first_seed + static_cast<std::uint64_t>(GetParam() * twins_per_shard + k);
    const GraphCase original = random_graph(seed);
    const EqualTwin twin = equal_twin(original, seed);
    verify(twin.twin.graph);
    if (const auto wrong = disagreement(original, twin, k % 4 == 0)) {
      ADD_FAILURE() << "seed " << seed << ", " << *wrong;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, EqualTwins, ::testing::Range(0, shards));

TEST(EqualTwin, ReachesEveryIdentity) {
  std::map<std::string_view, int> counts;
  for (const Identity& identity : all_identities()) counts[identity.equation] = 0;
  for (int k = 0; k < shards * twins_per_shard; ++k) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(k);
    for (std::string_view equation : equal_twin(random_graph(seed), seed).equations) {
      ++counts.at(equation);
    }
  }
  for (const auto& [equation, count] : counts) EXPECT_GE(count, 1) << equation;
}

}  // namespace
}  // namespace anabranch
