// Workers that sleep are woken for what they could share, whatever the one that calls them has said
// before.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "anabranch/device.h"
#include "runtime/cpu/thread_pool.h"

namespace anabranch::cpu {
namespace {

std::atomic<int> inside;
std::atomic<bool> is_done, was_alone;

// Of two ranges, each waits for the other.
void meet(const void*, void* const*, std::int64_t, std::int64_t) {
  ++inside;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (inside < 2) was_alone = true;
}

// As a loop does: the end of a turn is the end of a program, and another turn follows.
void share_after_an_end(Work&) {
  static HostTask task{meet, nullptr, 2, 1};
  static Work after([](Work&) { is_done = true; });
  static SharedTask shared(after);
  ThreadPool::job_is_ending();
  shared.task = &task;
  if (ThreadPool::of(Device::cpu()).run_shared(shared)) is_done = true;
}

TEST(Sleepers, AreWokenByAJobThatGoesOnAfterAnEnd) {
  ThreadPool& pool = ThreadPool::of(Device::cpu());
  static Work first([](Work&) {});
  pool.post(first);                                            // its threads start
  if (pool.size() < 2) return;                                 // no other could come
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // and fall asleep
  static Work job(share_after_an_end);
  pool.post(job);
  while (!is_done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(was_alone);
}

}  // namespace
}  // namespace anabranch::cpu
