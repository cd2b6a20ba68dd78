// Random graphs, batched: each element of the batch gives what the single graph gives for it, and
// what is compiled gives what is interpreted.
#include <gtest/gtest.h>

#include "check.h"
#include "tests/support/batch_check.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_transform.h"

namespace anabranch {
namespace {

constexpr int shards = 10;
constexpr int graphs_per_shard = 100;
// Larger graphs take minutes in the interpreter, and hold nothing that smaller ones do not.
constexpr std::int64_t most_elements = 200'000;

class RandomBatches : public ::testing::TestWithParam<int> {};

// Mostly 3 elements; now and then one, or none.
testing::BatchCase random_batch(const GraphCase& single, Random& random) {
  const std::int64_t size = random.percent(10) ? random.below(2) : 2 + random.below(2);
  std::vector<bool> batched;
  for (std::size_t i = 0; i < single.inputs.size(); ++i) batched.push_back(random.percent(70));
  if (!batched.empty()) batched[static_cast<std::size_t>(random.below(std::ssize(batched)))] = true;
  return testing::batch_case(single.graph, size, std::move(batched), single.inputs, random);
}

std::optional<std::string> compiled_problem(const testing::BatchCase& batch,
                                            const ParameterDevices& parameters) {
  GraphCase whole = testing::batched_graph(batch);
  whole.parameters = parameters;
  return problem(ways()[2], whole);
}

TEST_P(RandomBatches, GiveWhatTheirElementsGive) {
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    const GraphCase single = random_graph(seed);
    if (testing::elements_of(single.graph) > most_elements) continue;
    Random random(seed);
    const testing::BatchCase batch = random_batch(single, random);
    auto wrong = testing::batch_problem(batch);
    if (!wrong) wrong = compiled_problem(batch, single.parameters);
    EXPECT_FALSE(wrong) << "seed " << seed << ", batch of " << batch.size << ": " << *wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomBatches, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
