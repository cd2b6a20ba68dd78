// Workers leave when the program does, also where all of them sleep while threads of the user do
// the last of the work.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "anabranch/device.h"
#include "runtime/cpu/thread_pool.h"

namespace anabranch::cpu {
namespace {

/// Work that lasts until its gate opens.
struct Gate : Work {
  Gate() : Work([](Work& work) { static_cast<Gate&>(work).pass(); }) {}

  void pass() {
    is_inside = true;
    while (!is_open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_done.store(1, std::memory_order_release);
  }

  std::atomic<bool> is_inside{false}, is_open{false};
  std::atomic<std::uint32_t> is_done{0};
};

void sleep_ms(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) sleep_ms(1);
}

/// `count` threads that help with work of their own, each behind a gate.
std::vector<Gate*> begin_helping(ThreadPool& pool, int count) {
  std::vector<Gate*> gates;
  for (int i = 0; i < count; ++i) {
    Gate& gate = *gates.emplace_back(new Gate);
    gate.part_of = &gate;
    std::thread([&pool, &gate] {
      pool.help_until(gate.is_done, std::chrono::seconds(20), &gate);
    }).detach();
    sleep_ms(20);  // it looks for the work, and workers sleep
    pool.post(gate);
    wait_for(gate.is_inside);
  }
  return gates;
}

/// Leaves with as many threads at work as there are cores, `helpers` of them the user's, which end
/// last, and with one more work to do.
[[noreturn]] void leave_with(int helpers) {
  alarm(30);  // in place of a deadlock
  ThreadPool& pool = ThreadPool::of(Device::cpu());
  helpers = std::min(helpers, pool.size());
  // Never destroyed: they are in use when the program leaves.
  static const auto* helped = new std::vector<Gate*>(begin_helping(pool, helpers));
  static auto* worked = new std::vector<Gate*>;
  static auto* more = new Gate;
  for (int i = helpers; i < pool.size(); ++i) {
    pool.post(*worked->emplace_back(new Gate));
    wait_for(worked->back()->is_inside);
  }
  more->is_open = true;
  more->part_of = worked->empty() ? helped->front() : nullptr;
  pool.post(*more);
  std::thread([] {
    sleep_ms(100);  // workers that have no seat sleep again
    for (Gate* gate : *worked) gate->is_open = true;
    if (!worked->empty()) wait_for(more->is_inside);
    sleep_ms(100);  // those that are done leave
    for (Gate* gate : *helped) gate->is_open = true;
  }).detach();
  std::exit(7);
}

class LeavingWorkersDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LeavingWorkersDeathTest, AreWokenByOneThatLeaves) {
  EXPECT_EXIT(leave_with(1), ::testing::ExitedWithCode(7), "");
}

TEST_F(LeavingWorkersDeathTest, AreWokenByAThreadThatHelped) {
  EXPECT_EXIT(leave_with(1 << 10), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace anabranch::cpu
