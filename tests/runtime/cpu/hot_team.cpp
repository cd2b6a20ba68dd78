// Threads that stay with a task: every part of it is run once, whoever is there, what a part throws
// is thrown, and nobody is kept from other work.
#include "runtime/cpu/hot_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using cpu::HotTeam;
using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;

constexpr std::int64_t elements = 1000, cut = 64;

/// Many short parts: each adds 1 to all elements of `counts` and says who was there.
struct Many {
  std::chrono::milliseconds length{20};
  std::atomic<int> throws_at{-1};  ///< an element whose part throws
  std::vector<std::atomic<int>> counts = std::vector<std::atomic<int>>(elements);
  std::vector<std::thread::id> last = std::vector<std::thread::id>(elements);
  int turns = 0;
  std::atomic<int> shared_turns{0};
  std::atomic<bool> stops{false};
  HostTask part;
};
Many* many = nullptr;

void count_range(const void*, void* const*, std::int64_t begin, std::int64_t end) {
  EXPECT_EQ(begin % cut, 0);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i == many->throws_at.load()) throw std::runtime_error("element " + std::to_string(i));
    many->counts[at].fetch_add(1, std::memory_order_relaxed);
    many->last[at] = std::this_thread::get_id();
  }
}

void run_many(const void*, void* const* buffers, std::int64_t, std::int64_t) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < many->length && !many->stops) {
    HotTeam::run(many->part, buffers);
    ++many->turns;
    many->shared_turns += many->last.front() != many->last.back();
  }
}

std::shared_ptr<const Executable> program_of_many(bool is_long = false) {
  many->part = {count_range, nullptr, elements, 1, cut};
  FakeProgram program(4);
  const SlotId in = program.input();
  program.step({in}, program.output());
  program.last_task() = HotTeam::task({run_many, nullptr, 1, 1}, is_long);
  return program.in_order();
}

std::vector<Buffer> start(const std::shared_ptr<const Executable>& executable) {
  return run(executable, {buffer_of(Device::cpu(), counting(4))});
}

TEST(HotTeam, RunsEveryPartOnce) {
  for (const bool is_long : {false, true}) {
    Many counted;
    many = &counted;
    const auto executable = program_of_many(is_long);
    for (int i = 0; i < 5; ++i) {
      start(executable)[0].ready().wait();
      wait_for_devices();
    }
    for (const auto& count : counted.counts) ASSERT_EQ(count.load(), counted.turns);
    EXPECT_GT(counted.turns, 0);
    if (cores(Device::cpu()).count > 1) {
      EXPECT_GT(counted.shared_turns, 0);
    }
  }
}

TEST(HotTeam, ThrowsWhatAPartThrewOnceAllAreDone) {
  for (const int element : {0, static_cast<int>(elements) - 1}) {
    Many counted;
    many = &counted;
    const auto executable = program_of_many();
    counted.length = std::chrono::seconds(20);
    std::vector<Buffer> outputs = start(executable);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    counted.throws_at = element;
    try {
      outputs[0].ready().wait();
      FAIL() << "no error";
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find("element " + std::to_string(element)),
                std::string::npos);
    }
    wait_for_devices();
  }
}

// A member is a thread of the pool: what is posted meanwhile is run, and not after the task.
TEST(HotTeam, LetsGoWhoIsNeededElsewhere) {
  Many counted;
  many = &counted;
  counted.length = std::chrono::seconds(20);
  const auto executable = program_of_many();
  FakeProgram other(4);
  const SlotId in = other.input();
  other.step({in}, other.output());
  const auto quick = other.in_order();
  const std::vector<Buffer> outputs = start(executable);
  if (cores(Device::cpu()).count > 1) {
    while (counted.shared_turns == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run(quick, {buffer_of(Device::cpu(), counting(4))})[0].ready().wait();
    EXPECT_FALSE(outputs[0].ready().ready());
  }
  counted.stops = true;
  outputs[0].ready().wait();
  wait_for_devices();
  for (const auto& count : counted.counts) ASSERT_EQ(count.load(), counted.turns);
}

TEST(HotTeam, IsNobodyWhereTheTaskIsNotShared) {
  Many counted;
  many = &counted;
  program_of_many();
  const HostTask task = HotTeam::task({run_many, nullptr, 1, 1}, true);
  EXPECT_TRUE(HotTeam::is_task(task));
  EXPECT_FALSE(HotTeam::is_task(counted.part));
  task.function(task.context.get(), nullptr, 0, task.extent);
  for (const auto& count : counted.counts) ASSERT_EQ(count.load(), counted.turns);
  EXPECT_EQ(counted.shared_turns, 0);
}

}  // namespace
}  // namespace anabranch
