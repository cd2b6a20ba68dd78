// Random graphs, transformed in ways that compose: what is compiled gives what is interpreted.
#include <gtest/gtest.h>

#include <algorithm>

#include "check.h"
#include "ir/text/print.h"
#include "tests/support/batch_check.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_transform.h"

namespace anabranch {
namespace {

using testing::Transform;
using Transforms = std::vector<Transform>;

constexpr int graphs = 120;
constexpr std::int64_t most_elements = 30'000;

// Seeds of its own: gradients.cpp and batch.cpp have those from 0 on.
constexpr std::uint64_t first_seed = 10'000;

const Transforms compositions[] = {
    {Transform::tangents},
    {Transform::gradients, Transform::tangents},
    {Transform::gradients, Transform::gradients},
    {Transform::gradients, Transform::batch},
    {Transform::batch, Transform::gradients},
    {Transform::batch, Transform::batch, Transform::tangents},
};

class RandomTransforms : public ::testing::TestWithParam<Transforms> {};

TEST_P(RandomTransforms, GiveWhatTheInterpreterGives) {
  int tested = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + graphs; ++seed) {
    Random random(seed);
    try {
      const auto made = testing::transformed(random_graph(seed), GetParam(), random, most_elements);
      if (!made) continue;
      ++tested;
      const auto expected = interpret_bounded(made->graph, made->inputs);
      for (const std::size_t way : {1, 2}) {
        const auto wrong = problem(ways()[way], *made, expected);
        if (!wrong) continue;
        const GraphCase small = shrink(
            *made, [&](const GraphCase& part) { return problem(ways()[way], part).has_value(); });
        ADD_FAILURE() << "seed " << seed << ", " << ways()[way].name << ": " << *wrong
                      << "\nthe smallest part that fails: "
                      << problem(ways()[way], small).value_or("none, on its own") << "\n"
                      << describe(small);
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << to_string(random_graph(seed).graph);
    }
  }
  EXPECT_GT(tested, graphs / 4);
}

INSTANTIATE_TEST_SUITE_P(Compositions, RandomTransforms, ::testing::ValuesIn(compositions),
                         [](const auto& each) {
                           std::string name = testing::to_string(each.param);
                           std::erase(name, ' ');
                           std::ranges::replace(name, ',', '_');
                           return name;
                         });

// The gradients of each element of a batch are those of the batch.
TEST(RandomBatchesOfGradients, GiveWhatTheirElementsGive) {
  int tested = 0;
  constexpr Transform gradients[] = {Transform::gradients};
  for (std::uint64_t seed = first_seed; seed < first_seed + graphs; ++seed) {
    Random random(seed);
    const auto made = testing::transformed(random_graph(seed), gradients, random, most_elements);
    if (!made) continue;
    ++tested;
    std::vector<bool> batched;
    for (std::size_t i = 0; i < made->inputs.size(); ++i) batched.push_back(random.percent(70));
    const auto wrong =
        testing::batch_problem(testing::batch_case(made->graph, 2, batched, made->inputs, random));
    EXPECT_FALSE(wrong) << "seed " << seed << ": " << *wrong;
  }
  EXPECT_GT(tested, graphs / 3);
}

}  // namespace
}  // namespace anabranch
