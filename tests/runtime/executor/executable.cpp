#include "runtime/executor/executable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/schedule/schedule.h"
#include "ir/error.h"
#include "runtime/executor/run.h"
#include "runtime/null/run_null.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::values_of;

/// f0 and f1 on streams of their own, f2 where they meet.
Executable fork_and_join() {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.launch({in}, a);
  program.launch({in}, b);
  program.launch({a, b}, program.output());
  Options options;
  options.device = Device::null(2);
  options.use_all_streams = true;
  return schedule(program.program(), options);
}

std::string error_of(const Executable& executable) {
  try {
    verify(executable);
  } catch (const InternalError& error) {
    const std::string what = error.what();
    return what.substr(0, what.find('\n'));
  }
  return "none";
}

template <class S>
std::vector<Step>::iterator find(Executable& executable, std::size_t stream) {
  auto& steps = executable.streams[stream].steps;
  return std::find_if(steps.begin(), steps.end(),
                      [](const Step& step) { return std::holds_alternative<S>(step); });
}

TEST(Executable, DotHasAColourPerStreamDashedEventsAndARedCriticalPath) {
  EXPECT_EQ(to_dot(fork_and_join()),
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
  std::vector<Buffer> out =
      run(std::make_shared<Executable>(fork_and_join()), {buffer_of(Device::null(2), counting(8))});
  EXPECT_TRUE(out[0].ready().ready());
  EXPECT_EQ(values_of(out[0]), std::vector<std::int64_t>(8, 0));
  const std::vector<null::Entry> expected = {
      {"fake", 0, "f0", {}}, {"fake", 1, "f1", {}}, {"fake", 0, "f2", {0}}};
  EXPECT_EQ(null::take_log(Device::null(2)), expected);
  EXPECT_TRUE(null::take_log(Device::null(2)).empty());
}

TEST(Verify, AcceptsWhatTheSchedulerMakes) { EXPECT_EQ(error_of(fork_and_join()), "none"); }

TEST(Verify, RefusesAMissingWait) {
  Executable made = fork_and_join();
  made.streams[0].steps.erase(find<Wait>(made, 0));
  EXPECT_EQ(
      error_of(made),
      "schedule: %2 is written by step 0 of stream 1 and used by step 1 of stream 0, which are "
      "not ordered");
}

TEST(Verify, RefusesEventsThatAreNotRecordedOnce) {
  Executable made = fork_and_join();
  made.streams[1].steps.erase(find<Record>(made, 1));
  EXPECT_EQ(error_of(made), "schedule: event e0 is recorded 0 times");
  made = fork_and_join();
  made.streams[0].steps.push_back(Record{0});
  EXPECT_EQ(error_of(made), "schedule: event e0 is recorded 2 times");
  made = fork_and_join();
  made.event_count = 0;
  EXPECT_EQ(error_of(made), "schedule: event e0 does not exist");
}

TEST(Verify, RefusesStreamsThatWaitForEachOther) {
  Executable made = fork_and_join();
  made.event_count = 2;
  made.streams[0].steps.push_back(Record{1});
  made.streams[1].steps.insert(made.streams[1].steps.begin(), Wait{1});
  EXPECT_EQ(error_of(made), "schedule: stream 0 waits for ever");
  EXPECT_THROW(run(std::make_shared<Executable>(made), {buffer_of(Device::null(2), counting(8))}),
               InternalError);
}

TEST(Verify, RefusesSharedBytes) {
  Executable made = fork_and_join();
  made.slots[1].offset = made.slots[2].offset;
  EXPECT_EQ(error_of(made), "schedule: %1 and %2 share bytes while both are live");
  made = fork_and_join();
  made.slots[1].offset = made.slots[2].offset + 8;
  made.arena_bytes += 64;
  EXPECT_EQ(error_of(made), "schedule: %2 and %1 share bytes while both are live");
}

TEST(Verify, AcceptsWritingOverOnlyWhereTheLaunchAllowsIt) {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.launch({in}, a);
  program.launch({a}, b);
  program.launch({b}, program.output());
  Executable made = schedule(program.program(), Options{});
  EXPECT_EQ(made.slots[a].offset, made.slots[b].offset);
  EXPECT_EQ(error_of(made), "none");
  std::get<Launch>(made.streams[0].steps[1]).in_place.clear();
  EXPECT_EQ(error_of(made), "schedule: %1 and %2 share bytes while both are live");
}

TEST(Verify, RefusesWrongSlots) {
  Executable made = fork_and_join();
  made.arena_bytes = 64;
  EXPECT_EQ(error_of(made), "schedule: %2 lies outside the arena");
  made = fork_and_join();
  std::get<Launch>(made.streams[1].steps[0]).writes = {0};
  EXPECT_EQ(error_of(made), "schedule: %0 is written, and is an input or a constant");
  made = fork_and_join();
  std::get<Launch>(made.streams[1].steps[0]).buffers = {0};
  EXPECT_EQ(error_of(made), "schedule: f1 writes %2, which it is not given");
  made = fork_and_join();
  made.outputs = {1};
  EXPECT_EQ(error_of(made), "schedule: %1 is a temporary and an output");
  made = fork_and_join();
  made.streams[1].steps.erase(made.streams[1].steps.begin());
  EXPECT_EQ(error_of(made), "schedule: %2 is read by step 2 of stream 0 before it is written");
  made = fork_and_join();
  made.streams[0].steps.pop_back();
  EXPECT_EQ(error_of(made), "schedule: %3 is an output that nothing writes");
  made = fork_and_join();
  std::get<Launch>(made.streams[0].steps[0]).finishes = {0};
  EXPECT_EQ(error_of(made), "schedule: f0 finishes %3 and is not its last writer");
}

TEST(Executable, CopiesAreSteps) {
  FakeProgram program(8);
  const SlotId in = program.input(), out = program.output();
  Executable made = *program.in_order();
  made.streams = {{{Copy{in, out}}}};
  EXPECT_EQ(error_of(made), "none");
  EXPECT_NE(to_string(made).find("  copy %0 -> %1\n"), std::string::npos);
  auto shared = std::make_shared<Executable>(made);
  EXPECT_EQ(values_of(run(shared, {buffer_of(Device::cpu(), counting(8))})[0]), counting(8));
  Event given = Event::pending();
  Buffer later = Buffer::allocate(Device::cpu(), 64, given);
  std::vector<Buffer> result = run(shared, {later});
  given.complete(std::make_exception_ptr(Error("lost")));
  EXPECT_THROW(values_of(result[0]), Error);
}

}  // namespace
}  // namespace anabranch
