// The kernels of 400 random graphs, printed and read back: the same text, and the same bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/compile.h"
#include "codegen/link.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "runtime/device/cpu_devices.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"
#include "tests/support/random_graph.h"
#include "tests/support/read_literal.h"

namespace anabranch {
namespace {

constexpr int shards = 8;
constexpr int graphs_per_shard = 50;

class KernelText : public ::testing::TestWithParam<int> {};

std::vector<Literal> outputs(const GraphCase& tested, const Executable& executable) {
  std::vector<Buffer> inputs;
  for (const Literal& input : tested.inputs) {
    inputs.push_back(copy_to_device(Device::cpu(), input.bytes()));
  }
  const std::vector<Buffer> results =
      run(std::make_shared<const Executable>(executable), std::move(inputs));
  std::vector<Literal> made;
  for (std::size_t i = 0; i < results.size(); ++i) {
    made.push_back(testing::read_literal(results[i], tested.graph.type(tested.graph.outputs()[i])));
  }
  return made;
}

Executable with_kernels_from_text(Executable executable, const Options& options) {
  for (Kernel& kernel : executable.program.kernels) {
    const std::string text = to_string(kernel, false);
    std::vector<Kernel> read = parse_kernels(text);
    EXPECT_EQ(read.size(), 1u);
    EXPECT_EQ(to_string(read.at(0), false), text);
    read[0].cost = kernel.cost;
    kernel = std::move(read[0]);
  }
  executable.code = std::make_shared<const LinkedCode>(link(executable.program, options));
  return executable;
}

TEST_P(KernelText, GivesTheSameBits) {
  set_cpu_devices(1);
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    const GraphCase tested = random_graph(seed);
    const bool spans = std::ranges::any_of(
        devices_of(tested), [](const auto& device) { return device && *device != Device(); });
    if (spans) continue;
    const Options options;
    const Compilation compilation = compile(tested.graph, options);
    const Executable& executable = *compilation.first.executable;
    const Executable read = with_kernels_from_text(executable, options);
    ASSERT_EQ(outputs(tested, read), outputs(tested, executable)) << "seed " << seed << "\n"
                                                                  << to_string(tested.graph);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << to_string(tested.graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, KernelText, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
