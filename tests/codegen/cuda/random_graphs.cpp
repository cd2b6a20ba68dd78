// Random graphs, fused and not, their kernels run on the CPU as CUDA C++.
#include <gtest/gtest.h>

#include "cpu_cases.h"
#include "tests/support/random_graph.h"

namespace anabranch::testing {
namespace {

constexpr int shards = 8;
constexpr int graphs_per_shard = 125;

class RandomCudaGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomCudaGraphs, GiveWhatTheInterpreterGives) {
  CpuCases cases;
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    cases.add(random_graph(seed), k % 4 != 3);
  }
  cases.expect_what_the_interpreter_gives("random graphs");
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomCudaGraphs, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch::testing
