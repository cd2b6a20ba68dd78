// tests/golden/<pass>/*.abir: a graph, a line "----", and what the pass makes of it, then its notes
// as comments. Comments of the first part may ask for "# fast math" or say where the parameters
// are: "# parameters: cpu:0 cpu:1". BLESS=1 in the environment writes the second part anew. On
// every file the interpreter also says that the pass, and the whole pipeline, keep each bit of the
// results.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/passes/inputs.h"
#include "tests/support/places.h"

namespace anabranch {
namespace {

const std::filesystem::path folder = testing::place("tests/golden", TEST_DATA "/golden");

struct Golden : GoldenText {
  explicit Golden(const std::string& file)
      : GoldenText(folder / file), pass(path.parent_path().filename().string()) {}
  std::string pass;
};

PassContext context_of(const Golden& golden) {
  PassContext context;
  context.fast_math = golden.input.find("# fast math") != std::string::npos;
  constexpr std::string_view places = "# parameters: ";
  const std::size_t at = golden.input.find(places);
  if (at == std::string::npos) return context;
  const std::size_t begin = at + places.size();
  std::stringstream names(golden.input.substr(begin, golden.input.find('\n', at) - begin));
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

INSTANTIATE_TEST_SUITE_P(Golden, GoldenFile, ::testing::ValuesIn(golden_files(folder, ".abir")),
                         [](const auto& info) { return golden_test_name(info.param); });

}  // namespace
}  // namespace anabranch
