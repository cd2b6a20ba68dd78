#include "codegen/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "anabranch/error.h"
#include "codegen/schedule/dependencies.h"
#include "runtime/executor/run.h"
#include "runtime/null/run_null.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::random_program;
using testing::scheduled;
using testing::values_of;

Options on(Device device, int streams, bool use_all = false) {
  Options options;
  options.device = device;
  options.streams = streams;
  options.use_all_streams = use_all;
  return options;
}

int count_waits(const Program& program) {
  int waits = 0;
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) waits += std::holds_alternative<Wait>(command);
  }
  return waits;
}

//      +-> f1 -+
// f0 --+       +-> f3
//      +-> f2 -+
FakeProgram diamond(double predicted_ns) {
  FakeProgram program(16);
  const SlotId in = program.input();
  const SlotId a = program.temporary(), b = program.temporary(), c = program.temporary();
  program.step({in}, a, predicted_ns);
  program.step({a}, b, predicted_ns);
  program.step({a}, c, predicted_ns);
  program.step({b, c}, program.output(), predicted_ns);
  return program;
}

TEST(Schedule, ChainsThatFollowOneAnotherShareAStream) {
  // Two diamonds in a row: the second's branches take the first's streams.
  FakeProgram program(16);
  SlotId last = program.input();
  for (int i = 0; i < 2; ++i) {
    const SlotId a = program.temporary(), b = program.temporary(), c = program.temporary();
    const SlotId end = i == 0 ? program.temporary() : program.output();
    program.step({last}, a, 1e6);
    program.step({a}, b, 1e6);
    program.step({a}, c, 1e6);
    program.step({b, c}, end, 1e6);
    last = end;
  }
  Program made = scheduled(program.program(), on(Device::null(), 8));
  EXPECT_EQ(made.streams.size(), 2u);
  EXPECT_EQ(made.event_count, 4u);
}

TEST(Schedule, WritesAfterReadsAreOrdered) {
  // f1 reads %1, f2 overwrites it: nothing but the order of the program says which comes first.
  FakeProgram program(16);
  const SlotId in = program.input();
  const SlotId shared = program.temporary();
  program.step({in}, shared);
  program.step({shared}, program.output());
  program.step({in}, shared);
  program.step({shared}, program.output());
  const Dependencies dependencies(program.program());
  EXPECT_TRUE(dependencies.depends(2, 1));
  EXPECT_TRUE(dependencies.depends(3, 0));
  EXPECT_EQ(dependencies.before(3), std::vector<std::uint32_t>{2});
  verify(scheduled(program.program(), on(Device::null(), 4, true)));
}

TEST(Schedule, OutputsAreFinishedByTheirLastWriter) {
  Program made = scheduled(diamond(1e6).program(), on(Device::null(), 4));
  const Step* last = step_of(made, made.streams[0].commands.back());
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->name, "f3");
  EXPECT_EQ(last->finishes, std::vector<std::uint32_t>{0});
}

// Of the same size, and no longer read when the output is written.
TEST(Schedule, OutputsTakeOverInputsOfTheirDeviceAlone) {
  for (DeviceIndex device : {0, 1}) {
    FakeProgram program(16);
    const SlotId in = program.input(), copied = program.temporary(), out = program.output();
    Step& copy = program.step({in}, copied);
    copy.work = TransferStep();
    copy.in_place.clear();
    program.step({copied}, out);
    for (SlotId id : {copied, out}) program.program().slots[id].device = device;
    program.program().devices.push_back({Device::null(1)});
    const Program made = scheduled(program.program(), on(Device::null(), 1));
    EXPECT_EQ(made.donations.size(), device == 0 ? 1u : 0u) << to_string(made);
  }
}

TEST(Schedule, RandomProgramsVerifyAndKeepToTheirStreams) {
  std::mt19937 random(1);
  int several_streams = 0;
  for (int round = 0; round < 400; ++round) {
    FakeProgram program = random_program(random, 1 + static_cast<int>(random() % 40), 8);
    const int streams = 1 + static_cast<int>(random() % 8);
    Program made = scheduled(program.program(), on(Device::null(1), streams, round % 2 == 0));
    SCOPED_TRACE(to_string(made));
    ASSERT_NO_THROW(verify(made));
    ASSERT_LE(made.streams.size(), static_cast<std::size_t>(streams));
    ASSERT_LE(made.devices[0].live_bytes, made.arena_bytes());
    several_streams += made.streams.size() > 1;
    // Each dependency is kept in the order of the null device's log, each step is there once.
    std::vector<Buffer> inputs(2, Buffer::allocate(Device::null(1), 64));
    run(program.executable(made), inputs);
    std::set<std::string> names;
    for (const null::Entry& entry : null::take_log(Device::null(1))) names.insert(entry.name);
    ASSERT_EQ(names.size(), program.program().steps.size());
  }
  EXPECT_GT(several_streams, 200);
}

// Leaving out any one wait must let two steps that depend on each other loose.
TEST(Schedule, EveryWaitIsNeeded) {
  std::mt19937 random(2);
  int waits = 0;
  for (int round = 0; round < 60; ++round) {
    FakeProgram program = random_program(random, 20, 8);
    // Without reuse of memory, so that dependencies alone are at stake.
    Program made = scheduled(program.program(), on(Device::null(), 4, true));
    std::size_t offset = 0;
    for (Slot& slot : made.slots) {
      if (slot.kind == Slot::Kind::temporary) slot.offset = std::exchange(offset, offset + 64);
    }
    made.devices[0].arena_bytes = offset;
    ASSERT_NO_THROW(verify(made));
    for (std::size_t stream = 0; stream < made.streams.size(); ++stream) {
      for (std::size_t i = 0; i < made.streams[stream].size(); ++i) {
        if (!std::holds_alternative<Wait>(made.streams[stream][i])) continue;
        Program less = made;
        auto& commands = less.streams[stream].commands;
        commands.erase(commands.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_THROW(verify(less), InternalError) << to_string(made);
        ++waits;
      }
    }
    EXPECT_LE(made.event_count, static_cast<std::uint32_t>(count_waits(made)));
  }
  EXPECT_GT(waits, 100);
}

TEST(Schedule, RandomProgramsGiveTheSameResultsOnAnyStreams) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    FakeProgram program = random_program(random, 1 + static_cast<int>(random() % 40), 32);
    std::vector<std::vector<std::int64_t>> values = {counting(32), counting(32, 1000)};
    const auto expected = program.expected(values);
    for (int streams : {1, 2, 4, 8}) {
      const auto made = program.executable(on(Device::cpu(), streams, true));
      std::vector<std::vector<Buffer>> results;
      for (int i = 0; i < 4; ++i) {
        results.push_back(
            run(made, {buffer_of(Device::cpu(), values[0]), buffer_of(Device::cpu(), values[1])}));
      }
      for (const std::vector<Buffer>& outputs : results) {
        ASSERT_EQ(outputs.size(), expected.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          ASSERT_EQ(values_of(outputs[i]), expected[i]) << to_string(made->program);
        }
      }
    }
  }
}

TEST(Schedule, RandomFailuresReachWhatDependsOnThemAndNothingElse) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    FakeProgram program = random_program(random, 20, 8);
    std::vector<std::vector<std::int64_t>> values = {counting(8), counting(8, 1000)};
    const auto expected = program.expected(values);
    const std::vector<Step>& steps = program.program().steps;
    const auto failing = static_cast<StepId>(random() % steps.size());
    const Dependencies dependencies(program.program());
    std::vector<bool> lost;
    for (SlotId id : program.program().outputs) {
      for (StepId i = 0; i < steps.size(); ++i) {
        if (steps[i].writes[0] == id) {
          lost.push_back(i == failing || dependencies.depends(i, failing));
        }
      }
    }
    program.task(failing).function = [](const void*, void* const*, std::int64_t, std::int64_t) {
      throw Error("fake task failed");
    };
    const auto made = program.executable(on(Device::cpu(), 4, true));
    std::vector<Buffer> outputs =
        run(made, {buffer_of(Device::cpu(), values[0]), buffer_of(Device::cpu(), values[1])});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (lost[i]) {
        EXPECT_THROW(values_of(outputs[i]), Error);
      } else {
        EXPECT_EQ(values_of(outputs[i]), expected[i]);
      }
    }
  }
}

TEST(Schedule, ThousandsOfStepsAreScheduledQuickly) {
  std::mt19937 random(5);
  FakeProgram program = random_program(random, 2000, 1);
  EXPECT_NO_THROW(verify(scheduled(program.program(), on(Device::null(), 4, true))));
}

}  // namespace
}  // namespace anabranch
