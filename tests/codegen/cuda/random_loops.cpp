// Random pointwise loops, their kernels run on the CPU as CUDA C++.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "cpu_graph.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/random_loop.h"
#include "tests/support/rings.h"

namespace anabranch::testing {
namespace {

constexpr std::uint64_t loops = 120;

TEST(RandomCudaLoops, GiveWhatTheInterpreterGives) {
  CpuKernels kernels;
  std::vector<std::pair<GraphCase, std::unique_ptr<CpuGraph>>> all;
  for (std::uint64_t seed = 0; seed < loops; ++seed) {
    GraphCase tested = random_pointwise_loop(1000 + seed);
    auto run = std::make_unique<CpuGraph>(kernels, tested.graph, true);
    all.emplace_back(std::move(tested), std::move(run));
  }
  kernels.compile();
  for (const auto& [tested, run] : all) {
    const auto wrong =
        difference(interpret_bounded(tested.graph, tested.inputs), run->run(tested.inputs));
    EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(tested.graph);
  }
  report_run(kernels.size(), all.size(), "random pointwise loops");
}

}  // namespace
}  // namespace anabranch::testing
