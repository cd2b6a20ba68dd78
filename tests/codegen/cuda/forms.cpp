// Every form that a fused group can take on a GPU, over sizes that fill threads, packs and blocks
// and that do not, run on the CPU and held against the interpreter.
#include "forms.h"

#include <gtest/gtest.h>

#include "cpu_graph.h"
#include "ir/text/parse.h"
#include "tests/support/check_lowering.h"
#include "tests/support/compare.h"
#include "tests/support/rings.h"

namespace anabranch::testing {
namespace {

constexpr std::int64_t row_sizes[] = {0, 1, 2, 3, 9, 33, 128};
constexpr std::int64_t column_sizes[] = {0, 1, 3, 8, 31, 32, 33, 129, 512, 1000};

class Forms : public ::testing::TestWithParam<Form> {};

TEST_P(Forms, GiveWhatTheInterpreterGives) {
  struct Tried {
    Graph graph;
    std::unique_ptr<CpuGraph> run;
  };
  CpuKernels kernels;
  std::vector<Tried> all;
  for (std::int64_t n : row_sizes) {
    for (std::int64_t m : column_sizes) {
      if (n * m == 0 && !GetParam().takes_nothing) continue;
      Graph graph = parse(with_sizes(GetParam().text, n, m));
      auto run = std::make_unique<CpuGraph>(kernels, graph);
      all.push_back({std::move(graph), std::move(run)});
    }
  }
  kernels.compile();
  for (const Tried& tried : all) {
    const std::vector<Literal> inputs = small_inputs(tried.graph);
    const std::vector<Bounded> wanted = interpret_bounded(tried.graph, inputs);
    for (std::int64_t blocks : {INT64_MAX, std::int64_t{2}}) {
      kernels.set_most_blocks(blocks);
      const auto wrong = difference(wanted, tried.run->run(inputs));
      ASSERT_FALSE(wrong) << *wrong << "\n" << to_string(tried.graph);
    }
  }
  report_run(kernels.size(), 1, "forms");
}

INSTANTIATE_TEST_SUITE_P(Cuda, Forms, ::testing::ValuesIn(forms),
                         [](const auto& info) { return std::string(info.param.name); });

// Long rows: blocks of many warps, scratch in registers and in shared memory, reductions in two
// kernels.
TEST(CudaLongRows, GiveWhatTheInterpreterGives) {
  constexpr const char* names[] = {"softmax", "layer_norm", "whole_sum", "column_sums",
                                   "argmax_of_rows"};
  std::size_t all_kernels = 0;
  for (const char* name : names) {
    CpuKernels kernels;
    std::vector<std::pair<Graph, std::unique_ptr<CpuGraph>>> all;
    const std::pair<std::int64_t, std::int64_t> sizes_of[] = {{2, 4096},  {3, 5000}, {1, 16384},
                                                              {1, 33000}, {2000, 2}, {2, 33000}};
    for (auto [n, m] : sizes_of) {
      Graph graph = parse(with_sizes(form(name).text, n, m));
      auto run = std::make_unique<CpuGraph>(kernels, graph);
      all.emplace_back(std::move(graph), std::move(run));
    }
    kernels.compile();
    for (const auto& [graph, run] : all) {
      const std::vector<Literal> inputs = small_inputs(graph);
      const auto wrong = difference(interpret_bounded(graph, inputs), run->run(inputs));
      ASSERT_FALSE(wrong) << *wrong << "\n" << to_string(graph);
    }
    all_kernels += kernels.size();
  }
  report_run(all_kernels, std::size(names), "forms with long rows");
}

// Sums so long that each thread adds them up in blocks: the error is that of docs/ir.md for one
// loop, which a running sum would exceed.
TEST(CudaLongSums, AreBlocked) {
  struct Long {
    const char* text;
    std::int64_t terms;
  };
  const Long all[] = {
      {"graph rows(%0: f32[]) { %1: f32[2,300000] = broadcast_in_dim %0 axes=[] "
       "%2: f32[2,300000] = negate %1 %3: f32[2] = reduce_sum %2 axes=[1] return %3 }",
       300000},
      {"graph columns(%0: f32[]) { %1: f32[60000,70] = broadcast_in_dim %0 axes=[] "
       "%2: f32[60000,70] = negate %1 %3: f32[70] = reduce_sum %2 axes=[0] return %3 }",
       60000},
      {"graph one_thread(%0: f32[], %4: f32[]) { %1: f32[70000] = broadcast_in_dim %0 axes=[] "
       "%2: f32[70000] = negate %1 %3: f32[] = reduce_sum %2 axes=[0] "
       "%5: f32[] = reduce %2, %4 axes=[0] graph body(%0: f32[], %1: f32[]) { "
       "%2: f32[] = maximum %0, %1 return %2 } return %3, %5 }",
       70000},
  };
  CpuKernels kernels;
  std::vector<std::unique_ptr<CpuGraph>> runs;
  for (const Long& each : all) {
    runs.push_back(std::make_unique<CpuGraph>(kernels, parse(each.text)));
  }
  kernels.compile();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Literal x = Literal::scalar(-0.1f), zero = Literal::scalar(0.0f);
    const std::vector<Literal> inputs = i == 2 ? std::vector{x, zero} : std::vector{x};
    const Literal sums = runs[i]->run(inputs)[0];
    const double truth = static_cast<double>(all[i].terms) * static_cast<double>(0.1f);
    for (float sum : sums.values<float>()) {
      EXPECT_NEAR(static_cast<double>(sum) / truth, 1, 1e-6) << all[i].text;
    }
  }
}

}  // namespace
}  // namespace anabranch::testing
