// Threads that wait for a result and do a part of what makes it: they are not kept once it is
// there.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;

/// What a step waits for. One that nobody opens is given up after some seconds, so that a host
/// that is kept fails its test and does not hang.
struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
  bool is_open = false;
  bool was_given_up = false;

  void open() {
    std::lock_guard lock(mutex);
    is_open = true;
    opened.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex);
    const bool passed = opened.wait_for(lock, std::chrono::seconds(20), [&] { return is_open; });
    was_given_up |= !passed;
  }
};

Gate* gate = nullptr;
std::thread::id ran_on;

void wait_at_gate(const void*, void* const*, std::int64_t, std::int64_t) { gate->pass(); }
void note_thread(const void*, void* const*, std::int64_t, std::int64_t) {
  ran_on = std::this_thread::get_id();
}

/// Two outputs, the second behind the gate: on one stream after the first, on two beside it.
std::shared_ptr<const Executable> quick_and_late(int streams) {
  FakeProgram program(4);
  const SlotId in = program.input();
  const SlotId quick = program.output(), late = program.output();
  program.step({in}, quick);
  program.step({in}, late);
  program.last_task() = {wait_at_gate, nullptr, 1, 1};
  Options options;
  options.device = Device::cpu();
  options.streams = streams;
  options.use_all_streams = true;
  return program.executable(options);
}

TEST(HelpingWaiter, IsNotKeptOnceItsResultIsThere) {
  for (int streams : {1, 2}) {
    const auto executable = quick_and_late(streams);
    ASSERT_EQ(executable->program.streams.size(), static_cast<std::size_t>(streams));
    for (int i = 0; i < 50; ++i) {
      Gate closed;
      gate = &closed;
      const std::vector<Buffer> outputs = run(executable, {buffer_of(Device::cpu(), counting(4))});
      outputs[0].ready().wait();
      EXPECT_FALSE(outputs[1].ready().ready());
      closed.open();
      outputs[1].ready().wait();
      wait_for_devices();
      ASSERT_FALSE(closed.was_given_up) << streams << " streams, run " << i;
    }
  }
}

TEST(HelpingWaiter, RunsWhatItWaitsForBeforeASleepingWorkerComes) {
  FakeProgram program(4);
  const SlotId in = program.input();
  program.step({in}, program.output());
  program.last_task() = {note_thread, nullptr, 1, 1};
  const auto executable = program.in_order();
  int by_host = 0;
  for (int i = 0; i < 500 && by_host == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // workers fall asleep
    run(executable, {buffer_of(Device::cpu(), counting(4))})[0].ready().wait();
    by_host += ran_on == std::this_thread::get_id();
  }
  EXPECT_GT(by_host, 0);
}

}  // namespace
}  // namespace anabranch
