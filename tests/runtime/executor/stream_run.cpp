// Workers that sleep are woken while another goes on after the end of a branch, which is a program
// of its own and not the end of what that worker does.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using Clock = std::chrono::steady_clock;

std::atomic<int> inside, wanted;
std::atomic<bool> was_given_up;

// Until so many ranges are inside as are wanted; after some seconds it is given up, so that a
// worker that is not woken fails its test and does not hang.
void meet(const void*, void* const*, std::int64_t, std::int64_t) {
  ++inside;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(20);
  while (inside < wanted && Clock::now() < end) std::this_thread::yield();
  if (inside < wanted) was_given_up = true;
}

/// A branch that goes step by step, and after it, on the same stream, a step that meets others in
/// `ranges` ranges.
std::shared_ptr<const Executable> meet_after_a_branch(int ranges) {
  FakeProgram inner(4);
  const SlotId from = inner.input();
  inner.step({from}, inner.output());
  const auto branch = inner.in_order();

  FakeProgram outer(4);
  const SlotId number = outer.input(), operand = outer.input();
  const SlotId chosen = outer.temporary(), arena = outer.temporary(), end = outer.output();
  Step& step = outer.step({number, operand}, chosen);
  step.buffers.push_back(arena);
  step.writes.push_back(arena);
  step.work = BranchStep{{branch->program}};
  outer.step({chosen}, end);
  outer.last_task() = {meet, nullptr, ranges, 1};
  Executable made = *outer.in_order();
  LinkedCode code = *made.code;
  code.steps[0].task = std::monostate();
  code.steps[0].regions = {*branch->code};
  made.code = std::make_shared<const LinkedCode>(std::move(code));
  return std::make_shared<const Executable>(std::move(made));
}

std::shared_ptr<const Executable> meet_alone() {
  FakeProgram program(4);
  const SlotId in = program.input();
  program.step({in}, program.output());
  program.last_task() = {meet, nullptr, 1, 1};
  return program.in_order();
}

// Workers fall asleep long before.
void sleep_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

/// Does not help, as a thread does that waits for the result.
void look_until_ready(const Buffer& result) {
  while (!result.ready().ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class AfterABranch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cpu::ThreadPool::of(Device::cpu()).size() < 2) GTEST_SKIP() << "no other could come";
    inside = 0;
    wanted = 2;
    was_given_up = false;
    sleep_a_while();
  }
  void TearDown() override {
    wait_for_devices();
    EXPECT_FALSE(was_given_up);
  }

  const Buffer number_ = buffer_of(Device::cpu(), counting(4));
  const Buffer operand_ = buffer_of(Device::cpu(), counting(4));
};

TEST_F(AfterABranch, AWorkerIsWokenForWhatIsSubmitted) {
  const Buffer first = run(meet_after_a_branch(1), {number_, operand_})[0];
  while (inside < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  sleep_a_while();
  const Buffer second = run(meet_alone(), {operand_})[0];
  look_until_ready(first);
  look_until_ready(second);
}

TEST_F(AfterABranch, AWorkerIsWokenForWhatIsShared) {
  look_until_ready(run(meet_after_a_branch(2), {number_, operand_})[0]);
}

}  // namespace
}  // namespace anabranch
