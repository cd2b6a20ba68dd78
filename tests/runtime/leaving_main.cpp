#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;

// Alive longer than the runtime's own statics.
std::vector<Buffer>& kept() {
  static std::vector<Buffer> kept;
  return kept;
}

[[noreturn]] void leave_with_work_in_flight() {
  kept();
  FakeProgram program(1 << 12);
  program.step({program.input()}, program.output());
  program.last_task().function = [](const void*, void* const*, std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  auto executable = program.in_order();
  Buffer in = buffer_of(Device::cpu(), counting(1 << 12));
  for (int i = 0; i < 20; ++i) kept().push_back(run(executable, {in})[0]);
  // One that can never run must not hold up the exit.
  Buffer never = Buffer::allocate(Device::cpu(), 8 << 12, Event::pending());
  kept().push_back(run(executable, {never})[0]);
  std::exit(7);
}

TEST(LeavingMainDeathTest, WithWorkInFlightIsSafe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_with_work_in_flight(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace anabranch
