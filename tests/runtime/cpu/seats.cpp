#include "runtime/cpu/seats.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "runtime/cpu/core.h"

namespace anabranch::cpu {
namespace {

TEST(Seats, AThreadGetsTheSeatThatItHad) {
  Seats seats;
  EXPECT_EQ(seats.take(Seats::none, 4), 0);
  EXPECT_EQ(seats.take(Seats::none, 5), 1);
  EXPECT_EQ(seats.taken(), 2);
  seats.leave(0);
  seats.leave(1);
  EXPECT_EQ(seats.taken(), 0);
  EXPECT_EQ(seats.take(1, 5), 1);
  EXPECT_EQ(seats.take(1, 4), 0);  // another has it: the first that is free
  EXPECT_EQ(seats.take(7, 6), 2);  // of a larger pool
}

TEST(Seats, KnowsWhoElseIsOnACore) {
  Seats seats;
  const int first = seats.take(Seats::none, 4), second = seats.take(Seats::none, 5);
  EXPECT_FALSE(seats.is_used_beside(first, 4));
  EXPECT_TRUE(seats.is_used_beside(second, 4));
  seats.set_core(first, 6);
  EXPECT_FALSE(seats.is_used_beside(second, 4));
  EXPECT_TRUE(seats.is_used_beside(second, 6));
  seats.leave(first);
  EXPECT_FALSE(seats.is_used_beside(second, 6));
}

cpu_set_t allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

// The system may move the thread back at any moment: one of several tries is enough.
TEST(LeaveCore, GoesOnOnAnotherAndIsBoundToNone) {
  const cpu_set_t cores = allowed_cores();
  int moved = 0;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      const int before = current_core();
      leave_core();
      moved += current_core() != before;
      const cpu_set_t now = allowed_cores();
      EXPECT_TRUE(CPU_EQUAL(&now, &cores));
    }).join();
  }
  EXPECT_EQ(moved > 0, CPU_COUNT(&cores) > 1);
}

TEST(LeaveCore, StaysWhereThereIsNoOther) {
  std::thread([] {
    const int here = current_core();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(here), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    leave_core();
    EXPECT_EQ(current_core(), here);
    const cpu_set_t now = allowed_cores();
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  }).join();
}

}  // namespace
}  // namespace anabranch::cpu
