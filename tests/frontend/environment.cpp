// What the environment variables do, each in a process of its own, since they are read once.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "values.h"

namespace {

class EnvironmentDeathTest : public testing::Test {
 protected:
  EnvironmentDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Compiles one program, then ends as a process does; errors go to stderr.
[[noreturn]] void run_with(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
  try {
    auto f = ab::jit([](ab::Array x) { return ab::tanh(x * 2); });
    f(ab::array({1.0f, 2.0f})).wait();
    std::cerr << f.cost(ab::spec(ab::f32, {2})).kernels << " kernels\n";
  } catch (const ab::Error& error) {
    std::cerr << error.what() << "\n";
  }
  std::exit(0);
}

TEST_F(EnvironmentDeathTest, DumpWritesStagesToStderr) {
  EXPECT_EXIT(run_with("ANABRANCH_DUMP", "trace"), testing::ExitedWithCode(0),
              "stage trace\ngraph main");
  EXPECT_EXIT(run_with("ANABRANCH_DUMP", "colour"), testing::ExitedWithCode(0),
              "ANABRANCH_DUMP=colour: there is no such stage; there are trace, ");
}

TEST_F(EnvironmentDeathTest, DisableLeavesPassesOut) {
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", ""), testing::ExitedWithCode(0), "1 kernels");
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", "fuse"), testing::ExitedWithCode(0), "[23] kernels");
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", "colour"), testing::ExitedWithCode(0),
              "no pass colour");
}

TEST_F(EnvironmentDeathTest, StreamsTakesAPositiveNumber) {
  EXPECT_EXIT(run_with("ANABRANCH_STREAMS", "0"), testing::ExitedWithCode(0),
              "ANABRANCH_STREAMS=0: expected a number from 1");
  EXPECT_EXIT(run_with("ANABRANCH_STREAMS", "2"), testing::ExitedWithCode(0), "1 kernels");
}

// Runs on the last of the CPU devices, which have to be there before the first compilation.
[[noreturn]] void run_on_last_device() {
  try {
    ab::Device last = ab::devices().back();
    ab::Array x = ab::array({1.0f, 2.0f}).to(last);
    ab::Options options;
    options.device = last;
    ab::Array y = ab::jit([](ab::Array x) { return x * 2; }, options)(x) + 1;
    std::cerr << ab::to_string(y.device()) << " has " << y << "\n";
    ab::environment();
  } catch (const ab::Error& error) {
    std::cerr << error.what() << "\n";
  }
  std::exit(0);
}

TEST_F(EnvironmentDeathTest, CpuDevicesMakesVirtualDevices) {
  setenv("ANABRANCH_CPU_DEVICES", "3", 1);  // for the process that the test starts
  EXPECT_EXIT(run_on_last_device(), testing::ExitedWithCode(0), "cpu:2 has \\[3. 5.\\]");
  setenv("ANABRANCH_CPU_DEVICES", "65", 1);
  EXPECT_EXIT(run_on_last_device(), testing::ExitedWithCode(0),
              "ANABRANCH_CPU_DEVICES=65: expected a number from 1 to 64");
  unsetenv("ANABRANCH_CPU_DEVICES");
}

TEST_F(EnvironmentDeathTest, TimelineIsWrittenAsTheProcessEnds) {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "anabranch_timeline.json";
  std::filesystem::remove(path);
  EXPECT_EXIT(run_with("ANABRANCH_TIMELINE", path.string()), testing::ExitedWithCode(0),
              "1 kernels");
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("compile main"), std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace
