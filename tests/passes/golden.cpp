// tests/golden/<pass>/*.abir: a graph, a line "----", and what the pass makes of it, then its notes
// as comments. Comments of the first part may ask for "# fast math" or say where the parameters
// are: "# parameters: cpu:0 cpu:1", or how much a cache holds for row_blocks: "# cached bytes: 64".
// BLESS=1 in the environment writes the second part anew. On
// every file the interpreter also says that the pass, and the whole pipeline, keep each bit of the
// results; and that every pass does on nasty values: zeros of both signs, infinities, NaNs, the
// ends of each dtype, positions out of range.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/passes/inputs.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

const std::filesystem::path folder = testing::place("tests/golden", TEST_DATA "/golden");

struct Golden : GoldenText {
  explicit Golden(const std::string& file)
      : GoldenText(folder / file), pass(path.parent_path().filename().string()) {}
  std::string pass;
};

// What stands behind `name` in a comment; empty where there is none.
std::string comment(const Golden& golden, std::string_view name) {
  const std::size_t at = golden.input.find(name);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size();
  return golden.input.substr(begin, golden.input.find('\n', at) - begin);
}

PassContext context_of(const Golden& golden) {
  PassContext context;
  if (const std::string bytes = comment(golden, "# cached bytes: "); !bytes.empty()) {
    context.block_costs = [bytes] { return BlockCosts{.cached_bytes = std::stoll(bytes)}; };
  }
  if (golden.input.find("# follows rows") != std::string::npos) {
    context.follows_rows = [] { return true; };
  }
  context.fast_math = golden.input.find("# fast math") != std::string::npos;
  std::stringstream names(comment(golden, "# parameters: "));
  for (std::string name; names >> name;) context.parameters.push_back(parse_device(name).value());
  return context;
}

std::string run(const Golden& golden) {
  PassContext context = context_of(golden);
  const Pass& pass = find_pass(golden.pass);
  PassRun checked;
  checked.verify = true;
  Graph after = run_passes({&pass, 1}, parse(golden.input), context, checked);
  std::string text = to_string(after, false);
  for (const std::string& note : context.notes) text += "# " + note + "\n";
  return text;
}

class GoldenFile : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenFile, GivesTheExpectedText) {
  Golden golden(GetParam());
  golden.expect(run(golden));
}

TEST_P(GoldenFile, KeepsEveryBit) {
  Golden golden(GetParam());
  if (golden.input.find("# fast math") != std::string::npos) return;
  const Graph before = parse(golden.input);
  const std::vector<Literal> inputs = inputs_for(before, 7);
  const std::vector<Literal> expected = interpret(before, inputs);
  PassContext context = context_of(golden);
  const Pass& pass = find_pass(golden.pass);
  EXPECT_TRUE(agree(interpret(run_passes({&pass, 1}, before, context), inputs), expected));
  EXPECT_TRUE(agree(interpret(run_passes(default_pipeline(), before, context), inputs), expected));
}

// Whether a loop's condition looks at this parameter of `graph`: it may decide the number of turns.
bool decides_turns(const Graph& graph, std::uint32_t parameter) {
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::while_) continue;
    for (std::uint32_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] != Value{parameter, 0}) continue;
      for (const Node& in_condition : node.regions[0].nodes()) {
        if (std::ranges::count(in_condition.inputs, Value{k, 0}) > 0) return true;
      }
    }
  }
  return false;
}

std::vector<Literal> nasty_inputs(const Graph& graph, std::uint64_t seed) {
  constexpr int turns[] = {2, 3, 5, 11};
  Random random(seed);
  std::vector<Literal> inputs;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    const Type& type = graph.parameter_type(i);
    inputs.push_back(type.rank() == 0 && decides_turns(graph, i)
                         ? Literal::scalar(type.dtype, random.of(turns))
                         : random_literal(random, type, Flavour::extreme));
  }
  return inputs;
}

TEST_P(GoldenFile, KeepsEveryBitOfNastyValues) {
  Golden golden(GetParam());
  const Graph before = parse(golden.input);
  constexpr std::uint64_t seeds = 8;
  std::vector<std::vector<Literal>> inputs;
  std::vector<std::vector<Bounded>> expected;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    inputs.push_back(nasty_inputs(before, seed));
    expected.emplace_back();
    for (Literal& output : interpret(before, inputs.back())) {
      expected.back().push_back(Bounded::exact(std::move(output)));
    }
  }
  const auto check = [&](Pipeline pipeline, std::string_view name) {
    PassContext context = context_of(golden);
    context.fast_math = false;
    const Graph after = run_passes(pipeline, before, context);
    if (after == before) return;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      EXPECT_EQ(difference(expected[seed], interpret(after, inputs[seed])), std::nullopt)
          << name << ", seed " << seed << "\n"
          << to_string(after);
    }
  };
  for (const Pass& pass : all_passes()) check({&pass, 1}, pass.name);
  check(default_pipeline(), "all");
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenFile, ::testing::ValuesIn(golden_files(folder, ".abir")),
                         [](const auto& info) { return golden_test_name(info.param); });

}  // namespace
}  // namespace anabranch
