#include "codegen/schedule/reschedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/executor/launch_times.h"
#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::values_of;

// Two chains that are said to take `predicted_ns`; whether they do is another matter.
FakeProgram two_chains(double predicted_ns) {
  FakeProgram program(64);
  const SlotId in = program.input();
  for (int chain = 0; chain < 2; ++chain) {
    const SlotId middle = program.temporary();
    program.step({in}, middle, predicted_ns);
    program.step({middle}, program.output(), predicted_ns);
  }
  return program;
}

// What `parallelism` sees of this machine decides whether a second stream can pay.
bool has_cores() { return std::thread::hardware_concurrency() > 1; }

Options on_cpu() {
  Options options;
  options.device = Device::cpu();
  return options;
}

struct Rescheduled {
  Runnable first;
  Reschedule reschedule;

  explicit Rescheduled(const FakeProgram& program)
      : first(runnable(program)), reschedule(first, on_cpu()) {}

  static Runnable runnable(const FakeProgram& program) {
    auto executable = program.executable(on_cpu());
    auto state = ExecutionState::of(*executable, true);
    return {std::move(executable), std::move(state)};
  }
  const Program& program() const { return first.executable->program; }
};

std::vector<Buffer> run(const Runnable& runnable, std::vector<Buffer> inputs) {
  return run(runnable.executable, std::move(inputs), runnable.state);
}

TEST(Reschedule, TakesTheMeasuredTimesOnceTheyAreIn) {
  if (!has_cores()) return;
  FakeProgram program = two_chains(1e6);
  Rescheduled made(program);
  ASSERT_NE(made.first.state->times, nullptr);
  EXPECT_EQ(made.program().streams.size(), 2u);
  EXPECT_FALSE(made.program().prediction.measured);
  // The least of all runs counts, so that a busy machine does not make them long.
  for (StepId step = 0; step < 4; ++step) {
    made.first.state->times->add(step, std::chrono::nanoseconds(100));
  }
  const auto values = counting(64);
  const auto expected = program.expected({{values}});
  for (int i = 0; i < LaunchTimes::runs_wanted + 3; ++i) {
    const Runnable now = made.reschedule.current();
    EXPECT_EQ(now.executable == made.first.executable, i < LaunchTimes::runs_wanted);
    EXPECT_EQ(now.state == made.first.state, i < LaunchTimes::runs_wanted);
    EXPECT_EQ(now.executable->code, made.first.executable->code);
    const std::vector<Buffer> outputs = run(now, {buffer_of(Device::cpu(), values)});
    wait_for_devices();
    EXPECT_EQ(values_of(outputs[0]), expected[0]);
    EXPECT_EQ(values_of(outputs[1]), expected[1]);
  }
  // Steps of 64 elements are nothing that a second stream could help.
  const Runnable settled = made.reschedule.current();
  const Program& now = settled.executable->program;
  EXPECT_TRUE(now.prediction.measured);
  EXPECT_EQ(now.streams.size(), 1u);
  EXPECT_LT(now.prediction.ns, made.program().prediction.ns);
  EXPECT_NE(to_string(now).find("\n  measured "), std::string::npos);
  EXPECT_NO_THROW(verify(now));
}

TEST(Reschedule, FindsOutThatASecondStreamPays) {
  if (!has_cores()) return;
  FakeProgram program = two_chains(1300);  // said to be too short
  for (StepId step = 0; step < program.program().steps.size(); ++step) {
    program.task(step).function = [](const void*, void* const*, std::int64_t, std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
  }
  Rescheduled made(program);
  EXPECT_EQ(made.program().streams.size(), 1u);
  for (int i = 0; i < LaunchTimes::runs_wanted; ++i) {
    run(made.first, {buffer_of(Device::cpu(), counting(64))});
    wait_for_devices();
  }
  const Runnable settled = made.reschedule.current();
  const Program& now = settled.executable->program;
  EXPECT_EQ(now.streams.size(), 2u);
  for (const Prediction::Timed& timed : now.prediction.critical_path) EXPECT_GE(timed.ns, 5e6);
}

TEST(Reschedule, SeveralThreadsMaySwapAtOnce) {
  if (!has_cores()) return;
  FakeProgram program = two_chains(1e6);
  Rescheduled made(program);
  const auto values = counting(64);
  const auto expected = program.expected({{values}});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto outputs = run(made.reschedule.current(), {buffer_of(Device::cpu(), values)});
        wrong += values_of(outputs[0]) != expected[0] || values_of(outputs[1]) != expected[1];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Reschedule, NothingIsMeasuredWhereThereIsNoChoice) {
  FakeProgram program = two_chains(1e6);
  EXPECT_TRUE(schedule(program.program(), on_cpu()).has_choice);
  Options one;
  one.streams = 1;
  EXPECT_FALSE(schedule(program.program(), one).has_choice);
  Options all;
  all.use_all_streams = true;
  EXPECT_FALSE(schedule(program.program(), all).has_choice);
}

}  // namespace
}  // namespace anabranch
