// tests/golden/<pass>/*.abir: a graph, a line "----", and what the pass makes of it, then its notes
// as comments. Comments of the first part may ask for "# fast math" or say where the parameters
// are: "# parameters: cpu:0 cpu:1". BLESS=1 in the environment writes the second part anew. On
// every file the interpreter also says that the pass, and the whole pipeline, keep each bit of the
// results.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "tests/passes/inputs.h"
#include "tests/support/places.h"

namespace anabranch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view separator = "----\n";

fs::path golden_folder() { return testing::place("tests/golden", TEST_DATA "/golden"); }

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  const fs::path root = golden_folder();
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".abir") {
      files.push_back(fs::relative(entry.path(), root).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Golden {
  fs::path path;
  std::string pass, input, expected;

  explicit Golden(const std::string& file) : path(golden_folder() / file) {
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    std::string text = all.str();
    std::size_t cut = text.find(separator);
    input = text.substr(0, cut);
    if (cut != std::string::npos) expected = text.substr(cut + separator.size());
    pass = path.parent_path().filename().string();
  }
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
  const std::string actual = run(golden);
  if (std::getenv("BLESS")) {
    std::ofstream(golden.path) << golden.input << separator << actual;
    return;
  }
  EXPECT_EQ(actual, golden.expected)
      << "tests/golden/" << GetParam() << " differs; if that is right, run the test with BLESS=1";
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

INSTANTIATE_TEST_SUITE_P(Golden, GoldenFile, ::testing::ValuesIn(golden_files()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace anabranch
