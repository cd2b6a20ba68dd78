// Random graphs, fused and not, their kernels run on the CPU as CUDA C++.
#include <gtest/gtest.h>

#include "cpu_graph.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"
#include "tests/support/rings.h"

namespace anabranch::testing {
namespace {

constexpr int shards = 8;
constexpr int graphs_per_shard = 125;

class RandomCudaGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomCudaGraphs, GiveWhatTheInterpreterGives) {
  CpuKernels kernels;
  std::vector<std::pair<GraphCase, std::unique_ptr<CpuGraph>>> all;
  for (int k = 0; k < graphs_per_shard; ++k) {
    GraphCase tested = random_graph(static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k));
    auto run = std::make_unique<CpuGraph>(kernels, tested.graph, k % 4 != 3);
    all.emplace_back(std::move(tested), std::move(run));
  }
  kernels.compile();
  for (const auto& [tested, run] : all) {
    const auto wrong =
        difference(interpret_bounded(tested.graph, tested.inputs), run->run(tested.inputs));
    EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(tested.graph);
  }
  report_run(kernels.size(), all.size(), "random graphs");
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomCudaGraphs, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch::testing
