// `anabranch check`, and StableHLO in the other commands.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/places.h"

namespace {

namespace fs = std::filesystem;

class CheckCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("check." + std::to_string(::getpid()));
    fs::create_directories(folder_ / "suite");
    write("suite/good.mlir", R"(// two tests
func.func @one() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  return
}

// -----

func.func @one() {
  %0 = call @given() : () -> tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>
  return
}
func.func private @given() -> tensor<i32> {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @needs_input(%x: tensor<i32>) { return }
)");
    write("suite/bad.mlir", R"(func.func @first() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %1 = stablehlo.negate %0 : tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[-1, -2], [3, 4]]> : tensor<2x2xi32>
  return
}
func.func @second() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.constant dense<0x3F800004> : tensor<f32>
  stablehlo.custom_call @check.expect_close(%0, %1) : (tensor<f32>, tensor<f32>) -> ()
  check.expect_close %0, %1, max_ulp_difference = 4 : tensor<f32>, tensor<f32>
  check.expect_almost_eq %0, %1 : tensor<f32>
  return
}
// -----
func.func @third( {
)");
    write("layer.mlir", R"(
func.func @main(%w: tensor<2x2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.dot %w, %x : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
)");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ / file) << text;
  }

  struct Outcome {
    int status;
    std::string text;
  };
  Outcome run(const std::string& arguments) {
    const std::string command =
        anabranch::testing::place("bin/anabranch", ANABRANCH_COMMAND).string();
    const std::string line =
        "cd " + folder_.string() + " && " + command + " " + arguments + " 2>&1";
    FILE* pipe = ::popen(line.c_str(), "r");
    Outcome outcome{-1, {}};
    std::array<char, 4096> block;
    for (std::size_t read; (read = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
      outcome.text.append(block.data(), read);
    }
    outcome.status = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }

  fs::path folder_;
};

TEST_F(CheckCommand, PassesInEachWay) {
  for (const std::string way :
       {"", " --interpret", " --no-fuse", " --streams 1", " --jobs 1", " --device cpu:0"}) {
    const Outcome outcome = run("check suite/good.mlir" + way);
    EXPECT_EQ(outcome.text, "2 passed, 0 failed, 1 skipped\n") << way;
    EXPECT_EQ(outcome.status, 0) << way;
  }
}

TEST_F(CheckCommand, NamesTheFirstElementThatDiffers) {
  const std::string expected =
      "suite/bad.mlir:4: @first: check.expect_eq_const: element [1, 0] is -3, expected 3; 2 of 4 "
      "elements differ\n"
      "suite/bad.mlir:10: @second: check.expect_close: element [] is 1, expected 1.0000005, 4 ULP "
      "apart\n"
      "suite/bad.mlir:16:19: expected a type, such as tensor<2x3xf32>, found '{'\n"
      "    func.func @third( {\n"
      "0 passed, 3 failed, 0 skipped\n";
  EXPECT_EQ(run("check suite/bad.mlir").text, expected);
  EXPECT_EQ(run("check suite/bad.mlir --interpret").text, expected);
  EXPECT_EQ(run("check suite/bad.mlir").status, 1);
}

TEST_F(CheckCommand, TakesFoldersAndFilesInOneProcess) {
  const Outcome outcome = run("check suite suite/good.mlir none.mlir --table");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.text.find("none.mlir: cannot be opened"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("| good | 4 | 0 | 2 |"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("\n4 passed, 4 failed, 2 skipped\n"), std::string::npos)
      << outcome.text;
  fs::create_directory(folder_ / "empty");
  EXPECT_NE(run("check empty").text.find("empty: has no .mlir files"), std::string::npos);
}

TEST_F(CheckCommand, OtherCommandsReadStablehlo) {
  EXPECT_NE(run("run layer.mlir --random").text.find("output 0: f32[2] = ["), std::string::npos);
  EXPECT_NE(run("dump layer.mlir --stage trace").text.find("# layer.mlir:3"), std::string::npos);
  EXPECT_NE(run("opt layer.mlir --passes dce").text.find("graph main("), std::string::npos);
  EXPECT_NE(run("run - --random < layer.mlir").text.find("output 0: f32[2]"), std::string::npos);
}

TEST_F(CheckCommand, DumpsStablehloThatReadsBack) {
  EXPECT_EQ(run("dump layer.mlir --format stablehlo --output again.mlir").status, 0);
  EXPECT_EQ(run("dump again.mlir --stage trace | sed 's/ *#.*//'").text,
            run("dump layer.mlir --stage trace | sed 's/ *#.*//'").text);
}

}  // namespace
