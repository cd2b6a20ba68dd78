// Loops and branches on a GPU as one kernel of one block, held against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/compile.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tests/codegen/cuda/flow_forms.h"
#include "tests/support/compare.h"
#include "tests/support/random_graph.h"
#include "tests/support/rings.h"

namespace anabranch::testing {
namespace {

Compilation compiled(const Graph& graph) {
  Options options;
  options.device = Device::cuda(0);
  options.parameters.assign(graph.parameter_count(), options.device);
  Compilation made = compile(graph, options);
  verify(made.program());
  return made;
}

std::vector<Literal> run_on_gpu(const Compilation& compilation, std::span<const Literal> inputs) {
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs) {
    buffers.push_back(copy_to_device(Device::cuda(0), input.bytes()));
  }
  const std::vector<Buffer> results = run(compilation, std::move(buffers));
  std::vector<Literal> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Type& type = compilation.traced.type(compilation.traced.outputs()[i]);
    outputs.push_back(read_literal(results[i], type));
  }
  return outputs;
}

/// Loops and branches outside others: those that are one kernel, or those that go step by step.
std::ptrdiff_t flows_in(const Compilation& compilation, bool whole) {
  return std::ranges::count_if(compilation.program().steps, [&](const Step& step) {
    return !inner_programs(step).empty() && is_whole_flow(step) == whole;
  });
}

void expect_same(const Graph& graph, const std::vector<std::int32_t>& numbers) {
  const Compilation compilation = compiled(graph);
  EXPECT_EQ(flows_in(compilation, false), 0) << to_string(compilation.program());
  for (std::int32_t number : numbers) {
    const std::vector<Literal> inputs = inputs_for(graph, number);
    const auto wrong =
        difference(interpret_bounded(graph, inputs), run_on_gpu(compilation, inputs));
    ASSERT_FALSE(wrong) << *wrong << "\n" << to_string(graph) << dump(compilation, Stage::cuda);
  }
}

class FlowsOnGpu : public ::testing::TestWithParam<Flow> {};

// Numbers of branches that there are and that there are not, loops of no step and of several.
TEST_P(FlowsOnGpu, GiveWhatTheInterpreterGives) {
  std::vector<std::string> types = {"i32[5,6]"};
  if (std::string(GetParam().text).find("dynamic") == std::string::npos) {
    types.insert(types.end(), {"i32[1,2]", "i32[64,64]", "i8[3,33]"});
  }
  for (const std::string& type : types) {
    expect_same(parse(with_type(GetParam().text, type)), {0, 1, -1, 7});
  }
  report_run(types.size(), 1, "loops and branches");
}

INSTANTIATE_TEST_SUITE_P(Table, FlowsOnGpu, ::testing::ValuesIn(flows),
                         [](const auto& flow) { return std::string(flow.param.name); });

class FlowFormsOnGpu : public ::testing::TestWithParam<Flow> {};

TEST_P(FlowFormsOnGpu, GiveWhatTheInterpreterGives) {
  constexpr int sizes[] = {3, 17, 64};
  for (int size : sizes) expect_same(parse(with_size(GetParam(), size)), {0, 1, 4});
  report_run(std::size(sizes), 1, "loops and branches");
}

INSTANTIATE_TEST_SUITE_P(Table, FlowFormsOnGpu, ::testing::ValuesIn(flow_forms),
                         [](const auto& flow) { return std::string(flow.param.name); });

bool is_for_one_gpu(const GraphCase& tested) {
  const std::string text = to_string(tested.graph);
  const bool has_flow =
      text.find(" while ") != std::string::npos || text.find(" case ") != std::string::npos;
  return has_flow && text.find("custom_call") == std::string::npos &&
         text.find("transfer") == std::string::npos;
}

class RandomFlowsOnGpu : public ::testing::TestWithParam<int> {};

TEST_P(RandomFlowsOnGpu, GiveWhatTheInterpreterGives) {
  constexpr std::uint64_t seeds = 300;
  std::size_t graphs = 0, kernels = 0;
  const auto first = static_cast<std::uint64_t>(GetParam()) * seeds;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const GraphCase tested = random_graph(seed);
    if (!is_for_one_gpu(tested)) continue;
    const Compilation compilation = compiled(tested.graph);
    if (flows_in(compilation, false) > 0 || flows_in(compilation, true) == 0) continue;
    ++graphs;
    kernels += static_cast<std::size_t>(flows_in(compilation, true));
    const auto wrong = difference(interpret_bounded(tested.graph, tested.inputs),
                                  run_on_gpu(compilation, tested.inputs));
    ASSERT_FALSE(wrong) << *wrong << "\nseed " << seed << "\n" << to_string(tested.graph);
  }
  EXPECT_GT(graphs, 0u);
  report_run(kernels, graphs, "random graphs with loops or branches");
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomFlowsOnGpu, ::testing::Range(0, 2));

}  // namespace
}  // namespace anabranch::testing
