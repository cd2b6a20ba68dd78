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
constexpr int optimized_per_shard = 100;
// Other graphs than those of random_graphs.cpp.
constexpr std::uint64_t first_seed = 50'000, first_optimized_seed = 62'000;

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

// In which ways a pair is run. Code generation takes most of the time, that without fusion half of
// it, so that not all are compiled.
enum class Effort : std::uint8_t { optimized, compiled, unfused };

bool is_wanted(const Way& way, Effort effort) {
  const auto is = [&](std::string_view text) { return way.name.find(text) != way.name.npos; };
  if (effort == Effort::optimized) return !is("compiled");
  return effort == Effort::unfused || !is("without fusion");
}

// What is wrong with the twin, in words; nothing where it gives what the original gives.
std::optional<std::string> disagreement(const GraphCase& original, const EqualTwin& twin,
                                        Effort effort) {
  const std::vector<Bounded> expected = interpret_bounded(original.graph, original.inputs);
  const auto wrong = difference(exactly(expected), interpret(twin.twin.graph, twin.twin.inputs));
  if (wrong) return "interpreted: " + *wrong + "\n" + texts(original, twin);
  for (const Way& way : ways()) {
    if (!is_wanted(way, effort)) continue;
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

void expect_agreement(std::uint64_t seed, Effort effort) {
  const GraphCase original = random_graph(seed);
  const EqualTwin twin = equal_twin(original, seed);
  verify(twin.twin.graph);
  if (const auto wrong = disagreement(original, twin, effort)) {
    ADD_FAILURE() << "seed " << seed << ", " << *wrong;
  }
}

TEST_P(EqualTwins, Agree) {
  for (int k = 0; k < twins_per_shard; ++k) {
    const auto number = static_cast<std::uint64_t>(GetParam() * twins_per_shard + k);
    expect_agreement(first_seed + number, k % 4 == 0 ? Effort::unfused : Effort::compiled);
  }
}

TEST_P(EqualTwins, AgreeWhenOptimized) {
  for (int k = 0; k < optimized_per_shard; ++k) {
    const auto number = static_cast<std::uint64_t>(GetParam() * optimized_per_shard + k);
    expect_agreement(first_optimized_seed + number, Effort::optimized);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, EqualTwins, ::testing::Range(0, shards));

TEST(EqualTwin, ReachesEveryIdentity) {
  std::map<std::string_view, int> counts;
  for (const Identity& identity : all_identities()) counts[identity.equation] = 0;
  const auto count_from = [&](std::uint64_t first, int pairs) {
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(pairs); ++seed) {
      for (std::string_view equation : equal_twin(random_graph(seed), seed).equations) {
        ++counts.at(equation);
      }
    }
  };
  count_from(first_seed, shards * twins_per_shard);
  count_from(first_optimized_seed, shards * optimized_per_shard);
  for (const auto& [equation, count] : counts) EXPECT_GE(count, 1) << equation;
}

}  // namespace
}  // namespace anabranch
