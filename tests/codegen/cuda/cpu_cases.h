// Cases whose kernels are compiled together, run on the CPU and held against the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_graph.h"
#include "ir/text/print.h"
#include "tests/support/compare.h"
#include "tests/support/rings.h"
#include "tests/support/shrink.h"

namespace anabranch::testing {

class CpuCases {
 public:
  /// With `fused` false every op is a kernel of its own.
  void add(GraphCase tested, bool fused) {
    auto run = std::make_unique<CpuGraph>(kernels_, tested.graph, fused);
    all_.emplace_back(std::move(tested), std::move(run));
  }

  std::size_t size() const { return all_.size(); }

  /// Of so many `things`.
  void expect_what_the_interpreter_gives(const std::string& things) {
    kernels_.compile();
    for (const auto& [tested, run] : all_) {
      const auto wrong =
          difference(interpret_bounded(tested.graph, tested.inputs), run->run(tested.inputs));
      EXPECT_FALSE(wrong) << *wrong << "\n" << to_string(tested.graph);
    }
    report_run(kernels_.size(), all_.size(), things.c_str());
  }

 private:
  CpuKernels kernels_;
  std::vector<std::pair<GraphCase, std::unique_ptr<CpuGraph>>> all_;
};

}  // namespace anabranch::testing
