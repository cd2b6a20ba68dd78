// What an item of a phase throws: every thread of the task gets it, and none waits for the item.
#include "codegen/host/phases.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

namespace anabranch::host {
namespace {

struct Shared {
  Phases phases{2};
  std::atomic<int> threw{0}, ended{0}, of_next_phase{0};

  void run() {
    try {
      Phases::run(&phases, 0, 8, [](std::int64_t item) {
        if (item % 4 == 3) throw std::bad_alloc();
      });
      Phases::run(&phases, 1, 8, [this](std::int64_t) { ++of_next_phase; });
    } catch (const std::bad_alloc&) {
      ++threw;
    }
    ++ended;
  }
};

// Threads that wait for ever fail the test and are left behind.
TEST(Phases, ThrowOnEveryThreadWhatAnItemThrew) {
  constexpr int threads = 4;
  const auto shared = std::make_shared<Shared>();
  for (int i = 0; i < threads; ++i) std::thread([shared] { shared->run(); }).detach();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (shared->ended < threads && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(shared->ended, threads);
  EXPECT_EQ(shared->threw, threads);
  EXPECT_EQ(shared->of_next_phase, 0);
}

TEST(Phases, ThrowAtOnceWhereOneThreadDoesAllOfIt) {
  int begun = 0;
  const auto work = [&](std::int64_t item) {
    ++begun;
    if (item == 3) throw std::bad_alloc();
  };
  EXPECT_THROW(Phases::run(nullptr, 0, 8, work), std::bad_alloc);
  EXPECT_EQ(begun, 4);
}

}  // namespace
}  // namespace anabranch::host
