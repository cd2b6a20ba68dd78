// The public suite's self-checking programs, where the build was told where they are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/frontend/stablehlo/run_text.h"

namespace {

namespace fs = std::filesystem;
namespace stablehlo = anabranch::stablehlo;

std::vector<fs::path> programs() {
  std::vector<fs::path> found;
  const fs::path suite = ANABRANCH_STABLEHLO_SUITE;
  if (suite.empty() || !fs::is_directory(suite)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(suite)) {
    if (entry.path().extension() == ".mlir") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(StablehloSuite, ProgramsPassInterpretedAndCompiled) {
  const std::vector<fs::path> all = programs();
  if (all.empty()) {
    GTEST_SKIP() << "there are no programs in '" << ANABRANCH_STABLEHLO_SUITE
                 << "'; configure with -DANABRANCH_STABLEHLO_SUITE=FOLDER";
  }
  for (const fs::path& path : all) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const stablehlo::Part& part : stablehlo::split(text)) {
      const std::string problems = anabranch::testing::problems(part.text);
      if (problems != anabranch::testing::no_assertions) {
        EXPECT_EQ(problems, "") << path << ":" << part.first_line;
      }
    }
  }
}

}  // namespace
