// 2,000 random graphs, each run in every way (ways.cpp) and held against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/print.h"
#include "ir/verify.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"
#include "ways.h"

namespace anabranch {
namespace {

constexpr int shards = 16;
constexpr int graphs_per_shard = 125;

// What is wrong with this way of running the case; nothing where it is right.
std::optional<std::string> problem(const Way& way, const GraphCase& tested,
                                   std::span<const Bounded> expected) {
  try {
    return difference(expected, way.run(tested));
  } catch (const std::exception& error) {
    return "threw: " + std::string(error.what());
  }
}

std::optional<std::string> problem(const Way& way, const GraphCase& tested) {
  return problem(way, tested, interpret_bounded(tested.graph, tested.inputs));
}

std::string describe(const GraphCase& tested) {
  std::string text = to_string(tested.graph);
  for (std::size_t i = 0; i < tested.inputs.size(); ++i) {
    const Literal& input = tested.inputs[i];
    if (input.type().size() <= 16)
      text += "# %" + std::to_string(i) + " = " + to_string(input) + "\n";
  }
  return text;
}

class RandomGraphs : public testing::TestWithParam<int> {};

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

INSTANTIATE_TEST_SUITE_P(Shard, RandomGraphs, testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
