#include "ir/program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "runtime/executor/run.h"
#include "runtime/null/run_null.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::scheduled;
using testing::values_of;

/// f0 and f1 on streams of their own, f2 where they meet.
FakeProgram fork_and_join() {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.step({in}, a);
  program.step({in}, b);
  program.step({a, b}, program.output());
  return program;
}

Program scheduled_fork_and_join() {
  Options options;
  options.device = Device::null(2);
  options.use_all_streams = true;
  return scheduled(fork_and_join().program(), options);
}

std::string error_of(const Program& program) {
  try {
    verify(program);
  } catch (const InternalError& error) {
    const std::string what = error.what();
    return what.substr(0, what.find('\n'));
  }
  return "none";
}

template <class C>
std::vector<Command>::iterator find(Program& program, std::size_t stream) {
  return std::ranges::find_if(program.streams[stream].commands, [](const Command& command) {
    return std::holds_alternative<C>(command);
  });
}

TEST(Executable, DotHasAColourPerStreamDashedEventsAndARedCriticalPath) {
  EXPECT_EQ(to_dot(scheduled_fork_and_join()),
            "digraph \"fake\" {\n"
            "  node [shape=box, style=filled];\n"
            "  subgraph cluster_0 {\n"
            "    label=\"stream 0\";\n"
            "    s0_0 [label=\"f0\\n%1: i64[8]\", fillcolor=\"#8dd3c7\"];\n"
            "    s0_2 [label=\"f2\\n%3: i64[8]\", fillcolor=\"#8dd3c7\", color=red, penwidth=3];\n"
            "  }\n"
            "  subgraph cluster_1 {\n"
            "    label=\"stream 1\";\n"
            "    s1_0 [label=\"f1\\n%2: i64[8]\", fillcolor=\"#ffffb3\", color=red, penwidth=3];\n"
            "  }\n"
            "  s0_0 -> s0_2;\n"
            "  s1_0 -> s0_2 [style=dashed, label=\"e0\"];\n"
            "}\n");
}

TEST(Executable, NullDeviceRecordsWhatWouldRun) {
  null::take_log(Device::null(2));
  std::vector<Buffer> out = run(fork_and_join().executable(scheduled_fork_and_join()),
                                {buffer_of(Device::null(2), counting(8))});
  EXPECT_TRUE(out[0].ready().ready());
  EXPECT_EQ(values_of(out[0]), std::vector<std::int64_t>(8, 0));
  const std::vector<null::Entry> expected = {
      {"fake", 0, "f0", {}}, {"fake", 1, "f1", {}}, {"fake", 0, "f2", {0}}};
  EXPECT_EQ(null::take_log(Device::null(2)), expected);
  EXPECT_TRUE(null::take_log(Device::null(2)).empty());
}

TEST(Verify, AcceptsWhatTheSchedulerMakes) {
  EXPECT_EQ(error_of(scheduled_fork_and_join()), "none");
}

TEST(Verify, RefusesAMissingWait) {
  Program made = scheduled_fork_and_join();
  made.streams[0].commands.erase(find<Wait>(made, 0));
  EXPECT_EQ(
      error_of(made),
      "schedule: %2 is written by step 0 of stream 1 and used by step 1 of stream 0, which are "
      "not ordered");
}

TEST(Verify, RefusesEventsThatAreNotRecordedOnce) {
  Program made = scheduled_fork_and_join();
  made.streams[1].commands.erase(find<Record>(made, 1));
  EXPECT_EQ(error_of(made), "schedule: event e0 is recorded 0 times");
  made = scheduled_fork_and_join();
  made.streams[0].commands.push_back(Record{0});
  EXPECT_EQ(error_of(made), "schedule: event e0 is recorded 2 times");
  made = scheduled_fork_and_join();
  made.event_count = 0;
  EXPECT_EQ(error_of(made), "schedule: event e0 does not exist");
}

TEST(Verify, RefusesStreamsThatWaitForEachOther) {
  Program made = scheduled_fork_and_join();
  made.event_count = 2;
  made.streams[0].commands.push_back(Record{1});
  made.streams[1].commands.insert(made.streams[1].commands.begin(), Wait{1});
  EXPECT_EQ(error_of(made), "schedule: stream 0 waits for ever");
  EXPECT_THROW(run(fork_and_join().executable(made), {buffer_of(Device::null(2), counting(8))}),
               InternalError);
}

TEST(Verify, RefusesSharedBytes) {
  Program made = scheduled_fork_and_join();
  made.slots[1].offset = made.slots[2].offset;
  EXPECT_EQ(error_of(made), "schedule: %1 and %2 share bytes while both are live");
  made = scheduled_fork_and_join();
  made.slots[1].offset = made.slots[2].offset + 8;
  made.devices[0].arena_bytes += 64;
  EXPECT_EQ(error_of(made), "schedule: %2 and %1 share bytes while both are live");
}

TEST(Verify, AcceptsWritingOverOnlyWhereTheStepAllowsIt) {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.step({in}, a);
  program.step({a}, b);
  program.step({b}, program.output());
  Program made = scheduled(program.program(), Options{});
  EXPECT_EQ(made.slots[a].offset, made.slots[b].offset);
  EXPECT_EQ(error_of(made), "none");
  made.steps[1].in_place.clear();
  EXPECT_EQ(error_of(made), "schedule: %1 and %2 share bytes while both are live");
}

TEST(Verify, RefusesWrongSlots) {
  Program made = scheduled_fork_and_join();
  made.devices[0].arena_bytes = 64;
  EXPECT_EQ(error_of(made), "schedule: %2 lies outside the arena");
  made = scheduled_fork_and_join();
  made.steps[1].writes = {0};
  EXPECT_EQ(error_of(made), "schedule: %0 is written, and is an input or a constant");
  made = scheduled_fork_and_join();
  made.steps[1].buffers = {0};
  EXPECT_EQ(error_of(made), "schedule: f1 writes %2, which it is not given");
  made = scheduled_fork_and_join();
  made.outputs = {1};
  EXPECT_EQ(error_of(made), "schedule: %1 is a temporary and an output");
  made = scheduled_fork_and_join();
  made.steps[1].buffers = {0};
  made.steps[1].writes.clear();
  EXPECT_EQ(error_of(made), "schedule: %2 is read by step 2 of stream 0 before it is written");
  made = scheduled_fork_and_join();
  made.steps[2].buffers = {1, 2};
  made.steps[2].writes.clear();
  EXPECT_EQ(error_of(made), "schedule: %3 is an output that nothing writes");
  made = scheduled_fork_and_join();
  made.steps[0].finishes = {0};
  EXPECT_EQ(error_of(made), "schedule: f0 finishes %3 and is not its last writer");
}

TEST(Verify, RefusesASymmetricProductOfTwoArrays) {
  FakeProgram program(8);
  const SlotId first = program.input(), second = program.input();
  DotStep dot;
  dot.is_symmetric = true;
  program.step({first, second}, program.output()).work = dot;
  EXPECT_EQ(error_of(program.program()),
            "schedule: f0 is symmetric, and does not multiply an array with itself");
}

TEST(Verify, RefusesStepsThatAreNotLaunchedOnce) {
  Program made = scheduled_fork_and_join();
  made.streams[1].commands.erase(find<Launch>(made, 1));
  EXPECT_EQ(error_of(made), "schedule: f1 is launched 0 times");
  made = scheduled_fork_and_join();
  made.streams[0].commands.push_back(Launch{1});
  EXPECT_EQ(error_of(made), "schedule: f1 is launched 2 times");
}

}  // namespace
}  // namespace anabranch
