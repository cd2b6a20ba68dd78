#include "runtime/executor/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

#include "anabranch/device_memory.h"
#include "anabranch/error.h"
#include "anabranch/limits.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/memory/allocator.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::values_of;
using Values = std::vector<std::int64_t>;

const Device cpu = Device::cpu();

std::string message(const Buffer& buffer) {
  try {
    buffer.ready().wait();
  } catch (const std::exception& caught) {
    return caught.what();
  }
  return "none";
}

/// in -> f0 -> f1 -> out
FakeProgram chain(std::int64_t size, double predicted_ns) {
  FakeProgram program(size);
  const SlotId in = program.input();
  const SlotId middle = program.temporary();
  program.step({in}, middle, predicted_ns);
  program.step({middle}, program.output(), predicted_ns);
  return program;
}

TEST(Run, SmallProgramsRunOnTheCallersThread) {
  FakeProgram program = chain(10, 100);
  const Values in = counting(10);
  std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, in)});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].ready().ready());
  EXPECT_EQ(values_of(out[0]), program.expected({{in}})[0]);
}

TEST(Run, LargerProgramsArriveLater) {
  FakeProgram program = chain(10, 1e5);
  const Values in = counting(10);
  std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, in)});
  EXPECT_EQ(values_of(out[0]), program.expected({{in}})[0]);
}

TEST(Run, WaitsForInputsThatAreNotReady) {
  FakeProgram program = chain(10, 100);
  Event given = Event::pending();
  Buffer in = Buffer::allocate(cpu, 80, given);
  std::vector<Buffer> out = run(program.in_order(), {in});
  EXPECT_FALSE(out[0].ready().ready());
  const Values values = counting(10, 5);
  std::copy(values.begin(), values.end(), static_cast<std::int64_t*>(in.data()));
  given.complete();
  EXPECT_EQ(values_of(out[0]), program.expected({{values}})[0]);
}

TEST(Run, CutsLargeStepsIntoRangesThatCoverEverythingOnce) {
  for (std::int64_t grain : {1, 7, 1000, 99'999}) {
    FakeProgram program(100'000);
    const SlotId in = program.input();
    program.step({in}, program.output());
    program.cut_last(grain);
    const Values values = counting(100'000);
    std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, values)});
    EXPECT_EQ(values_of(out[0]), program.expected({{values}})[0]);
  }
}

/// The ranges that a task was run in.
struct Ranges {
  std::mutex mutex;
  std::map<std::int64_t, std::int64_t> list;

  static void note(const void* context, void* const*, std::int64_t begin, std::int64_t end) {
    auto* self = static_cast<Ranges*>(const_cast<void*>(context));
    std::lock_guard lock(self->mutex);
    self->list.emplace(begin, end);
  }
};

// Three grains and a half are shared by two threads in halves, and not one grain to three.
TEST(Run, SharesAreEvenAndRangesBeginAtCuts) {
  constexpr std::int64_t extent = 3'500, grain = 1'000;
  const std::int64_t threads = std::min(anabranch::cpu::ThreadPool::of(cpu).size(), 4);
  for (std::int64_t cut : {1, 64, 1'000}) {
    auto ranges = std::make_shared<Ranges>();
    FakeProgram program(4);
    program.step({program.input()}, program.output());
    program.last_task() = {Ranges::note, ranges, extent, grain, cut};
    run(program.in_order(), {buffer_of(cpu, counting(4))})[0].ready().wait();
    std::int64_t next = 0;
    for (const auto& [begin, end] : ranges->list) {
      EXPECT_EQ(begin, next);
      EXPECT_EQ(begin % cut, 0);
      next = end;
    }
    EXPECT_EQ(next, extent);
    for (std::int64_t i = 0; i < threads; ++i) {
      const std::int64_t share = (extent + cut - 1) / cut * i / threads * cut;
      EXPECT_TRUE(ranges->list.contains(share)) << share << ", cut " << cut;
    }
  }
}

TEST(Run, OutputsMayBeInputsConstantsOrRepeated) {
  FakeProgram program(4);
  const SlotId in = program.input();
  const SlotId made = program.output();
  program.step({in}, made);
  program.program().outputs = {made, in, program.constant({4, 3, 2, 1}), made};
  const Values values = counting(4);
  std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, values)});
  EXPECT_EQ(values_of(out[0]), program.expected({{values}})[0]);
  EXPECT_EQ(values_of(out[1]), values);
  EXPECT_EQ(values_of(out[2]), (Values{4, 3, 2, 1}));
  EXPECT_EQ(values_of(out[3]), values_of(out[0]));
}

TEST(Run, EmptyArraysAndEmptyProgramsRun) {
  FakeProgram program = chain(0, 1e5);
  EXPECT_TRUE(values_of(run(program.in_order(), {buffer_of(cpu, {})})[0]).empty());
  EXPECT_TRUE(run(FakeProgram(0).executable(Program()), {}).empty());
}

TEST(Run, WrongInputsThrowAtOnce) {
  auto executable = chain(10, 100).in_order();
  EXPECT_THROW(run(executable, {}), Error);
  EXPECT_THROW(run(executable, {Buffer::allocate(cpu, 72)}), Error);
  EXPECT_THROW(run(executable, {Buffer::allocate(Device::null(), 80)}), Error);
}

// While a step still reads it, who has the first output may run something that would write it.
TEST(Run, AnOutputThatIsReadOnIsNotGivenAway) {
  FakeProgram program(10);
  const SlotId in = program.input(), first = program.output();
  program.step({in}, first).finishes = {0};
  static std::atomic<bool> may_go_on;
  may_go_on = false;
  Step& last = program.step({first}, program.output());
  last.finishes = {1};
  last.lets_go = {1};
  program.last_task().function = [](const void* context, void* const* buffers, std::int64_t begin,
                                    std::int64_t end) {
    may_go_on.wait(false);
    testing::run_fake(context, buffers, begin, end);
  };
  const Values values = counting(10);
  std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, values)});
  while (!out[0].ready().ready()) std::this_thread::yield();

  FakeProgram writer(10);
  writer.step({writer.input()}, writer.output(), 100);
  writer.program().donations = {{0, 0}};
  std::vector<Buffer> given;
  given.push_back(std::move(out[0]));
  const Buffer written = run(writer.in_order(), std::move(given))[0];
  EXPECT_TRUE(written.ready().ready());
  may_go_on = true;
  may_go_on.notify_all();
  program.last_task().function = testing::run_fake;
  EXPECT_EQ(values_of(out[1]), program.expected({{values}})[1]);
}

TEST(Run, AnUpdateElsewhereBeginsWithTheWholeArray) {
  FakeProgram program(10);
  const SlotId in = program.input(), out = program.output();
  program.step({in}, out).in_place_updates = {{in, out}};
  program.last_task().function = [](const void*, void* const* buffers, std::int64_t, std::int64_t) {
    static_cast<std::int64_t*>(buffers[1])[4] = -1;
  };
  Values values = counting(10, 100);
  const Buffer input = buffer_of(cpu, values);
  const Buffer output = run(program.in_order(), {input})[0];
  EXPECT_EQ(values_of(input), values);
  values[4] = -1;
  EXPECT_EQ(values_of(output), values);
}

class Failures : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(InlineAndQueued, Failures, ::testing::Values(100.0, 1e5));

// in -> fails -> a;  in -> b
TEST_P(Failures, OnlyWhatDependsOnAThrowingTaskIsLost) {
  FakeProgram program(10);
  const SlotId in = program.input();
  const SlotId middle = program.temporary();
  program.step({in}, middle, GetParam());
  program.fail_last();
  program.step({middle}, program.output(), GetParam());
  program.step({in}, program.output(), GetParam());
  const Values values = counting(10);
  std::vector<Buffer> out = run(program.in_order(), {buffer_of(cpu, values)});
  EXPECT_EQ(message(out[0]), "f0: fake task failed");
  EXPECT_EQ(values_of(out[1])[3], testing::mix(3, 3));
  std::vector<Buffer> next = run(chain(10, GetParam()).in_order(), {out[0]});
  EXPECT_EQ(message(next[0]), "f0: fake task failed");
}

TEST_P(Failures, OneRangeThatThrowsFailsTheWholeStep) {
  FakeProgram program(100'000);
  program.step({program.input()}, program.output(), GetParam());
  program.cut_last(1);
  program.fail_last();
  const Values values = counting(100'000);
  EXPECT_EQ(message(run(program.in_order(), {buffer_of(cpu, values)})[0]), "f0: fake task failed");
}

TEST_P(Failures, AFailedInputFailsItsDependantsAlone) {
  FakeProgram program(10);
  const SlotId bad = program.input(), good = program.input();
  program.step({bad}, program.output(), GetParam());
  program.step({good}, program.output(), GetParam());
  const Buffer failed = Buffer::failed(cpu, std::make_exception_ptr(Error("lost")));
  std::vector<Buffer> out = run(program.in_order(), {failed, buffer_of(cpu, counting(10))});
  EXPECT_EQ(message(out[0]), "lost");
  EXPECT_EQ(values_of(out[1])[3], testing::mix(2, 3));
}

// Memory is taken before the inputs are looked at.
TEST_P(Failures, TheFirstErrorIsTold) {
  const Buffer failed = Buffer::failed(cpu, std::make_exception_ptr(Error("lost")));
  fail_allocation_after(cpu, 0);
  const Buffer out = run(chain(10, GetParam()).in_order(), {failed})[0];
  EXPECT_NE(message(out).find("f0: allocate: "), std::string::npos) << message(out);
}

TEST_P(Failures, FullMemoryArrivesInTheResults) {
  FakeProgram program = chain(1000, GetParam());
  const SlotId in = 0;
  program.step({in}, program.output(), GetParam());
  auto executable = program.in_order();
  const Values values = counting(1000);
  Buffer input = buffer_of(cpu, values);
  for (std::uint64_t allocation : {0, 1, 2}) {  // of the arena, then of each output
    fail_allocation_after(cpu, allocation);
    std::vector<Buffer> out = run(executable, {input});
    const bool first_lost = message(out[0]).find("out of memory") != std::string::npos;
    const bool second_lost = message(out[1]).find("out of memory") != std::string::npos;
    EXPECT_EQ(first_lost, allocation < 2);
    EXPECT_EQ(second_lost, allocation == 2);
  }
  EXPECT_EQ(values_of(run(executable, {input})[0]), program.expected({{values}})[0]);
}

TEST(Run, ALoopThatNeverReadsRunsInBoundedMemory) {
  constexpr std::int64_t size = 1 << 9;
  FakeProgram program = chain(size, 1e5);
  auto executable = program.in_order();
  wait_for_devices();
  release_cached_memory(cpu);
  reset_peak_memory(cpu);
  const std::size_t before = memory_use(cpu).in_use;
  Buffer state = buffer_of(cpu, counting(size));
  for (int i = 0; i < 10'000; ++i) {
    Buffer next = run(executable, {state})[0];
    if (i % 2 == 0) state = next;
  }
  wait_for_devices();
  // An input, an output and an arena for each of the executions in flight would be 96 arrays.
  EXPECT_LE(memory_use(cpu).peak, before + 100 * size * sizeof(std::int64_t));
}

TEST(Run, TenThousandCallsNeverReadStayWithinTheLimit) {
  FakeProgram program(1);
  static std::atomic<int> started;
  started = 0;
  program.step({program.input()}, program.output());
  program.last_task().function = [](const void*, void* const*, std::int64_t, std::int64_t) {
    ++started;
  };
  auto executable = program.in_order();
  Buffer in = buffer_of(cpu, {1});
  const int limit = in_flight_limit(cpu);
  set_in_flight_limit(cpu, 5);
  for (int i = 0; i < 10'000; ++i) {
    run(executable, {in});
    ASSERT_GE(started, i + 1 - 5);
  }
  set_in_flight_limit(cpu, limit);
  wait_for_devices();
  EXPECT_EQ(started, 10'000);
  EXPECT_THROW(set_in_flight_limit(cpu, 0), Error);
}

TEST(Run, AHundredThousandDependentCallsNeedNoStack) {
  FakeProgram program(1);
  program.step({program.input()}, program.output());
  auto executable = program.in_order();
  const int limit = in_flight_limit(cpu);
  set_in_flight_limit(cpu, 1'000'000);
  Event given = Event::pending();
  Buffer first = Buffer::allocate(cpu, 8, given);
  *static_cast<std::int64_t*>(first.data()) = 1;
  Buffer state = first;
  std::int64_t expected = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = run(executable, {state})[0];
    expected = testing::mix(1, expected);
  }
  given.complete();
  EXPECT_EQ(values_of(state), Values{expected});
  set_in_flight_limit(cpu, limit);
}

TEST(Run, ManyThreadsCallOneExecutable) {
  FakeProgram program = chain(1000, 1e5);
  auto executable = program.in_order();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Values values = counting(1000, t);
      const Values expected = program.expected({{values}})[0];
      Buffer in = buffer_of(cpu, values);
      for (int i = 0; i < 100; ++i) {
        if (values_of(run(executable, {in})[0]) != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Run, AContinuationMayRunMoreWithoutBlockingAWorker) {
  FakeProgram program = chain(10, 1e5);
  auto executable = program.in_order();
  const int limit = in_flight_limit(cpu);
  set_in_flight_limit(cpu, 1);
  Buffer in = buffer_of(cpu, counting(10));
  Event done = Event::pending();
  std::vector<Buffer> later;
  Buffer first = run(executable, {in})[0];
  first.ready().then([&] {
    for (int i = 0; i < 5; ++i) later.push_back(run(executable, {in})[0]);
    done.complete();
  });
  done.wait();
  for (const Buffer& buffer : later) EXPECT_EQ(values_of(buffer), values_of(first));
  set_in_flight_limit(cpu, limit);
}

}  // namespace
}  // namespace anabranch
