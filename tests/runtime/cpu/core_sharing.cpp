// Never more threads at work than cores, however many streams are ready.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::values_of;

std::atomic<int> now_running, most_running, ranges;

// A range that lasts long enough for others to come.
void counted_range(const void*, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const int running = ++now_running;
  int most = most_running;
  while (running > most && !most_running.compare_exchange_weak(most, running)) {
  }
  ++ranges;
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  for (std::int64_t i = begin; i < end; ++i) static_cast<std::int64_t*>(buffers[1])[i] = i;
  --now_running;
}

TEST(CoreSharing, NeverMoreThreadsThanCoresRunTasks) {
  FakeProgram program(64);
  const SlotId in = program.input();
  for (int stream = 0; stream < 8; ++stream) {
    SlotId last = in;
    for (int i = 0; i < 3; ++i) {
      const SlotId next = i < 2 ? program.temporary() : program.output();
      Step& step = program.step({last}, next);
      if (i == 1) step.work = DotStep();
      program.last_task().function = counted_range;
      // Every second one can be cut, into as many ranges as there is room for.
      if (i % 2 == 0) program.cut_last(1);
      last = next;
    }
  }
  Options options;
  options.device = Device::cpu();
  options.streams = 8;
  options.use_all_streams = true;
  auto executable = program.executable(options);
  ASSERT_EQ(executable->program.streams.size(), 8u);
  most_running = 0;
  ranges = 0;
  // Several hosts that wait, and so help.
  std::vector<std::thread> hosts;
  for (int host = 0; host < 3; ++host) {
    hosts.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        for (const Buffer& output : run(executable, {buffer_of(Device::cpu(), counting(64))})) {
          EXPECT_EQ(values_of(output), counting(64));
        }
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_LE(most_running, cpu::ThreadPool::of(Device::cpu()).size());
  EXPECT_GE(ranges, 3 * 5 * 24);
}

}  // namespace
}  // namespace anabranch
