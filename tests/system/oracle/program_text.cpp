// The programs of a thousand random graphs, as text and in their binary form: each reads back to
// the same program, which gives the same bits.
#include <gtest/gtest.h>

#include "anabranch/devices.h"
#include "codegen/compile.h"
#include "codegen/link.h"
#include "ir/program/binary.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

constexpr int shards = 20;
constexpr int graphs_per_shard = 50;

class ProgramTexts : public ::testing::TestWithParam<int> {};

std::vector<Literal> outputs(const GraphCase& tested, Executable executable) {
  std::vector<Buffer> inputs;
  for (std::uint32_t i = 0; i < tested.inputs.size(); ++i) {
    const Device& device = input_device(executable.program, i);
    inputs.push_back(copy_to_device(device, tested.inputs[i].bytes()));
  }
  const std::vector<Buffer> results =
      run(std::make_shared<const Executable>(std::move(executable)), std::move(inputs));
  std::vector<Literal> made;
  for (std::size_t i = 0; i < results.size(); ++i) {
    made.push_back(read_literal(results[i], tested.graph.type(tested.graph.outputs()[i])));
  }
  return made;
}

Executable linked(Program program, const Options& options) {
  auto code = std::make_shared<const LinkedCode>(link(program, options));
  return {std::move(program), std::move(code)};
}

TEST_P(ProgramTexts, GiveTheSameBits) {
  set_cpu_devices(random_graph_devices);
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    const GraphCase tested = random_graph(seed);
    Options options;
    options.parameters = tested.parameters;
    options.use_all_streams = seed % 2 == 0;
    const Compilation compilation = compile(tested.graph, options);
    const Program& program = compilation.program();
    const std::string text = to_string(program);
    const Program from_text = parse_program(text);
    const Program from_binary = program_from_binary(to_binary(program));
    ASSERT_EQ(to_string(from_text), text) << "seed " << seed;
    ASSERT_EQ(to_string(from_binary), text) << "seed " << seed;
    const std::vector<Literal> expected = outputs(tested, *compilation.first.executable);
    ASSERT_EQ(outputs(tested, linked(from_text, compilation.options)), expected)
        << "seed " << seed << "\n"
        << text;
    ASSERT_EQ(outputs(tested, linked(from_binary, compilation.options)), expected)
        << "seed " << seed << "\n"
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, ProgramTexts, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
