// What the environment variables do, each in a process of its own, since they are read once.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "frontend/run/env.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/values.h"

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
  EXPECT_EXIT(run_with("ANABRANCH_DUMP", "fuse"), testing::ExitedWithCode(0),
              "after fuse\ngraph main");
  EXPECT_EXIT(run_with("ANABRANCH_DUMP", "colour"), testing::ExitedWithCode(0),
              "ANABRANCH_DUMP=colour: there is no such stage or pass; the stages are trace, ");
}

TEST_F(EnvironmentDeathTest, DisableLeavesPassesOut) {
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", ""), testing::ExitedWithCode(0), "1 kernels");
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", "fuse"), testing::ExitedWithCode(0), "[23] kernels");
  EXPECT_EXIT(
      run_with("ANABRANCH_DISABLE", "colour"), testing::ExitedWithCode(0),
      "ANABRANCH_DISABLE=colour: there is no pass colour; there are inline, checks, expand, ");
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", "vectorise"), testing::ExitedWithCode(0), "1 kernels");
  EXPECT_EXIT(run_with("ANABRANCH_DISABLE", "schedule"), testing::ExitedWithCode(0),
              "ANABRANCH_DISABLE=schedule: pass schedule cannot be left out");
}

TEST_F(EnvironmentDeathTest, StreamsTakesAPositiveNumber) {
  EXPECT_EXIT(run_with("ANABRANCH_STREAMS", "0"), testing::ExitedWithCode(0),
              "ANABRANCH_STREAMS=0: expected a number from 1");
  EXPECT_EXIT(run_with("ANABRANCH_STREAMS", "2"), testing::ExitedWithCode(0), "1 kernels");
}

TEST_F(EnvironmentDeathTest, SwitchesAreOneOrZero) {
  EXPECT_EXIT(run_with("ANABRANCH_VERIFY", "1"), testing::ExitedWithCode(0), "1 kernels");
  EXPECT_EXIT(run_with("ANABRANCH_VERIFY", "yes"), testing::ExitedWithCode(0),
              "ANABRANCH_VERIFY=yes: expected 1 or 0");
  EXPECT_EXIT(run_with("ANABRANCH_KEEP_MEMORY", "-1"), testing::ExitedWithCode(0),
              "ANABRANCH_KEEP_MEMORY=-1: expected 1 or 0");
}

[[noreturn]] void run_in_scope(const char* name) {
  const ab::NamedScope scope(name);
  run_with("ANABRANCH_STREAMS", "1");
}

[[noreturn]] void exit_in_a_custom_call() {
  const auto leave = [](const ab::CustomCall&) { std::exit(3); };
  ab::custom_call("leaves", leave, ab::spec(ab::f32, {}), ab::scalar(1.0f)).wait();
  std::exit(4);
}

/// The process that a test starts writes a timeline.
class EnvironmentTimelineDeathTest : public EnvironmentDeathTest {
 protected:
  EnvironmentTimelineDeathTest() {
    if (std::getenv("ANABRANCH_TIMELINE")) return;  // the started process
    folder_.emplace();
    setenv("ANABRANCH_TIMELINE", path().c_str(), 1);
  }
  ~EnvironmentTimelineDeathTest() override { unsetenv("ANABRANCH_TIMELINE"); }
  std::filesystem::path path() const { return folder_->path() / "timeline.json"; }

  std::optional<ab::testing::TemporaryFolder> folder_;
};

TEST_F(EnvironmentTimelineDeathTest, NamesMayBeInAnyEncoding) {
  EXPECT_EXIT(run_in_scope("caf\xe9"), testing::ExitedWithCode(0), "1 kernels");
  const std::string written = ab::testing::read_file(path());
  EXPECT_NE(written.find("caf\xef\xbf\xbd"), std::string::npos) << written.substr(0, 1000);
}

TEST_F(EnvironmentTimelineDeathTest, IsWrittenWhereACustomCallExits) {
  EXPECT_EXIT(exit_in_a_custom_call(), testing::ExitedWithCode(3), "");
  EXPECT_NE(ab::testing::read_file(path()).find("traceEvents"), std::string::npos);
}

// Compiles two programs, of one kernel each, and says what the disk had of them.
[[noreturn]] void compile_two() {
  try {
    ab::Array x = ab::array({1.0f, 2.0f, 3.0f});
    std::cerr << ab::jit([](ab::Array x) { return x * x + 1; })(x) << " "
              << ab::jit([](ab::Array x) { return x * x + 2; })(x);
    if (const auto& cache = ab::environment().cache) {
      std::cerr << " hits " << cache->use().hits << ", misses " << cache->use().misses;
    }
    std::cerr << " done\n";
  } catch (const ab::Error& error) {
    std::cerr << error.what() << "\n";
  }
  std::exit(0);
}

/// The process that a test starts keeps code in a folder and logs into a file.
class EnvironmentCacheDeathTest : public EnvironmentDeathTest {
 protected:
  EnvironmentCacheDeathTest() {
    // The started process makes the fixture again: it must get the folder of the first.
    if (const char* given = std::getenv("ANABRANCH_CACHE_DIR")) {
      cache_ = given;
    } else {
      folder_.emplace();
      cache_ = folder_->path() / "cache";
      setenv("ANABRANCH_CACHE_DIR", cache_.c_str(), 1);
      setenv("ANABRANCH_LOG", log().c_str(), 1);
    }
  }
  ~EnvironmentCacheDeathTest() override {
    unsetenv("ANABRANCH_CACHE_DIR");
    unsetenv("ANABRANCH_LOG");
  }

  // Not in the started process, which comes by here too.
  void truncate_one(std::size_t length) {
    if (folder_) std::filesystem::resize_file(*std::filesystem::directory_iterator(cache_), length);
  }

  std::filesystem::path log() const { return cache_.parent_path() / "log.txt"; }

  std::optional<ab::testing::TemporaryFolder> folder_;
  std::filesystem::path cache_;
};

TEST_F(EnvironmentCacheDeathTest, ASecondProcessCompilesNothing) {
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0),
              "\\[ 2.  5. 10.\\] \\[ 3.  6. 11.\\] hits 0, misses 2 done");
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0),
              "\\[ 2.  5. 10.\\] \\[ 3.  6. 11.\\] hits 2, misses 0 done");
  EXPECT_EQ(ab::testing::read_file(log()), "");
}

TEST_F(EnvironmentCacheDeathTest, ADamagedEntryCostsOneLineInTheLog) {
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0), "hits 0, misses 2");
  truncate_one(100);
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0), "hits 1, misses 1");
  const std::string lines = ab::testing::read_file(log());
  EXPECT_NE(lines.find("is not as long as it says; removed, and compiled again"),
            std::string::npos);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
  setenv("ANABRANCH_LOG", "stderr", 1);
  truncate_one(10);
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0), "is truncated; removed.*\n.*misses 1");
}

TEST_F(EnvironmentCacheDeathTest, AnUnsafeDirectoryIsRefused) {
  std::filesystem::create_directory(cache_);
  std::filesystem::permissions(cache_, std::filesystem::perms::all);
  EXPECT_EXIT(compile_two(), testing::ExitedWithCode(0),
              "ANABRANCH_CACHE_DIR=.*/cache: cache: .* may be written by others");
}

TEST_F(EnvironmentDeathTest, LogMustBeWritable) {
  EXPECT_EXIT(run_with("ANABRANCH_LOG", "/proc/nowhere/log"), testing::ExitedWithCode(0),
              "ANABRANCH_LOG=/proc/nowhere/log: cannot write there");
}

// Runs on the last of the CPU devices, which have to be there before the first compilation.
[[noreturn]] void run_on_last_device() {
  try {
    ab::Device last;
    for (const ab::Device& device : ab::devices()) {
      if (device.kind() == ab::DeviceKind::cpu) last = device;
    }
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

[[noreturn]] void run_and_say_what_is_kept(const char* keep) {
  setenv("ANABRANCH_KEEP_MEMORY", keep, 1);
  ab::jit([](ab::Array x) { return ab::tanh(x * 2); })(ab::array({1.0f, 2.0f})).wait();
  ab::wait_all();
  std::cerr << (ab::memory_use(ab::Device::cpu()).cached == 0 ? "nothing" : "something")
            << " kept\n";
  std::exit(0);
}

TEST_F(EnvironmentDeathTest, FreedMemoryIsKeptOrGivenBack) {
  EXPECT_EXIT(run_and_say_what_is_kept("1"), testing::ExitedWithCode(0), "something kept");
  EXPECT_EXIT(run_and_say_what_is_kept("0"), testing::ExitedWithCode(0), "nothing kept");
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

TEST_F(EnvironmentDeathTest, TimelineMustBeWritable) {
  EXPECT_EXIT(run_with("ANABRANCH_TIMELINE", "/proc/nowhere/t.json"), testing::ExitedWithCode(0),
              "ANABRANCH_TIMELINE=/proc/nowhere/t.json: .*cannot be written: No such file");
  EXPECT_EXIT(run_with("ANABRANCH_TIMELINE", "/proc"), testing::ExitedWithCode(0),
              "ANABRANCH_TIMELINE=/proc: /proc: is no regular file");
}

}  // namespace
