// Random graphs with their gradients, or batched, their kernels run on the CPU as CUDA C++.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "cpu_cases.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_transform.h"

namespace anabranch::testing {
namespace {

constexpr std::uint64_t graphs_per_shard = 60;
constexpr std::int64_t most_elements = 20'000;

struct Shard {
  std::vector<Transform> transforms;
  std::uint64_t first_seed;
};

void PrintTo(const Shard& shard, std::ostream* out) {
  *out << to_string(shard.transforms) << " from " << shard.first_seed;
}

class RandomCudaTransforms : public ::testing::TestWithParam<Shard> {};

TEST_P(RandomCudaTransforms, GiveWhatTheInterpreterGives) {
  const auto& [transforms, first] = GetParam();
  CpuCases cases;
  for (std::uint64_t seed = first; seed < first + graphs_per_shard; ++seed) {
    Random random(seed);
    auto tested = transformed(random_graph(seed), transforms, random, most_elements);
    if (tested) cases.add(std::move(*tested), seed % 4 != 3);
  }
  cases.expect_what_the_interpreter_gives("random graphs, " + to_string(transforms));
  EXPECT_GT(cases.size(), graphs_per_shard / 3);
}

std::vector<Shard> shards() {
  std::vector<Shard> all;
  for (std::uint64_t first : {0, 60, 120, 180}) {
    all.push_back({{Transform::gradients}, first});
    all.push_back({{Transform::batch}, first});
  }
  all.push_back({{Transform::gradients, Transform::batch}, 600});
  all.push_back({{Transform::batch, Transform::gradients}, 600});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomCudaTransforms, ::testing::ValuesIn(shards()));

}  // namespace
}  // namespace anabranch::testing
