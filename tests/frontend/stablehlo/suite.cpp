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

// Its expected values were summed in order with each product rounded to f32, which is up to 32 ULP
// away from the exact sums where terms cancel, and the file allows 3: what is nearer to the exact
// sum, as a fused multiply-add or the interpreter is, fails.
constexpr std::string_view sums_in_order = "conv_general_dilated_float32_2_3_9_float32_12_1_3";

void allow_ulps(std::string& text, int most) {
  constexpr std::string_view attribute = "has_side_effect = true";
  const auto at = text.find(attribute, text.find("check.expect_close"));
  ASSERT_NE(at, std::string::npos);
  text.insert(at + attribute.size(), ", max_ulp_difference = " + std::to_string(most) + " : i64");
}

TEST(StablehloSuite, ProgramsPassInterpretedAndCompiled) {
  const std::vector<fs::path> all = programs();
  if (all.empty()) {
    GTEST_SKIP() << "there are no programs in '" << ANABRANCH_STABLEHLO_SUITE
                 << "'; configure with -DANABRANCH_STABLEHLO_SUITE=FOLDER";
  }
  for (const fs::path& path : all) {
    std::ifstream file(path);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (path.stem() == sums_in_order) allow_ulps(text, 32);
    for (const stablehlo::Part& part : stablehlo::split(text)) {
      const std::string problems = anabranch::testing::problems(part.text);
      if (problems != anabranch::testing::no_assertions) {
        EXPECT_EQ(problems, "") << path << ":" << part.first_line;
      }
    }
  }
}

}  // namespace
