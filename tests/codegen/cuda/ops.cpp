// Every elementwise op on every dtype it takes, as a CUDA kernel on the CPU.
#include <gtest/gtest.h>

#include "cpu_graph.h"
#include "ir/text/print.h"
#include "op_graphs.h"
#include "tests/support/compare.h"
#include "tests/support/random_literal.h"
#include "tests/support/rings.h"

namespace anabranch::testing {
namespace {

TEST(CudaOps, GiveWhatTheInterpreterGives) {
  CpuKernels kernels;
  std::vector<std::pair<Graph, std::unique_ptr<CpuGraph>>> all;
  for (Graph& graph : op_graphs()) {
    auto run = std::make_unique<CpuGraph>(kernels, graph);
    all.emplace_back(std::move(graph), std::move(run));
  }
  kernels.compile();
  Random random(1);
  constexpr Flavour flavours[] = {Flavour::ordinary, Flavour::special, Flavour::any_bits};
  for (const auto& [graph, run] : all) {
    for (Flavour flavour : flavours) {
      std::vector<Literal> inputs;
      for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
        inputs.push_back(random_literal(random, graph.parameter_type(i), flavour));
      }
      const auto wrong = difference(interpret_bounded(graph, inputs), run->run(inputs));
      EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(graph);
    }
  }
  report_run(kernels.size(), all.size(), "ops and dtypes");
}

}  // namespace
}  // namespace anabranch::testing
