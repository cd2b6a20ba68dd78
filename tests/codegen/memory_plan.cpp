#include "codegen/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "codegen/schedule.h"
#include "ir/error.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::FakeProgram;
using testing::random_program;

Options on_null(int streams) {
  Options options;
  options.device = Device::null();
  options.streams = streams;
  options.use_all_streams = true;
  return options;
}

// in -> t0 -> t1 -> ... -> out
Executable long_chain(bool in_place) {
  FakeProgram program(100);
  SlotId last = program.input();
  for (int i = 0; i < 10; ++i) {
    const SlotId next = i < 9 ? program.temporary() : program.output();
    Launch& launch = program.launch({last}, next);
    if (!in_place) launch.in_place.clear();
    last = next;
  }
  return schedule(program.program(), on_null(1));
}

TEST(MemoryPlan, AChainNeedsTwoBuffersOrOneInPlace) {
  EXPECT_EQ(long_chain(false).arena_bytes, 2 * 832u);
  EXPECT_EQ(long_chain(false).live_bytes, 2 * 832u);
  EXPECT_EQ(long_chain(true).arena_bytes, 832u);
  EXPECT_EQ(long_chain(true).live_bytes, 832u);
  EXPECT_NO_THROW(verify(long_chain(true)));
}

TEST(MemoryPlan, AValueReadLaterIsNotWrittenOver) {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.launch({in}, a);
  program.launch({a}, b);
  program.launch({a, b}, program.output());
  Executable made = schedule(program.program(), on_null(1));
  EXPECT_NE(made.slots[a].offset, made.slots[b].offset);
  EXPECT_EQ(made.arena_bytes, 128u);
}

TEST(MemoryPlan, WhatMayRunAtTheSameTimeDoesNotShare) {
  FakeProgram program(8);
  const SlotId in = program.input();
  std::vector<SlotId> temporaries;
  for (int chain = 0; chain < 2; ++chain) {
    temporaries.push_back(program.temporary());
    program.launch({in}, temporaries.back());
    program.launch({temporaries.back()}, program.output());
  }
  EXPECT_EQ(schedule(program.program(), on_null(1)).arena_bytes, 64u);
  EXPECT_EQ(schedule(program.program(), on_null(2)).arena_bytes, 128u);
}

TEST(MemoryPlan, TheLowerBoundKnowsWhatMayRunAtTheSameTime) {
  FakeProgram program(8);
  const SlotId in = program.input();
  for (int chain = 0; chain < 3; ++chain) {
    const SlotId middle = program.temporary();
    program.launch({in}, middle);
    program.launch({middle}, program.output());
  }
  EXPECT_EQ(schedule(program.program(), on_null(3)).live_bytes, 3 * 64u);
  EXPECT_EQ(schedule(program.program(), on_null(1)).live_bytes, 64u);
}

TEST(MemoryPlan, EmptyAndUnusedTemporariesTakeNothing) {
  FakeProgram program(0);
  const SlotId in = program.input(), empty = program.temporary();
  program.temporary();
  program.launch({in}, empty);
  program.launch({empty}, program.output());
  EXPECT_EQ(schedule(program.program(), on_null(1)).arena_bytes, 0u);
}

TEST(MemoryPlan, DifferentSizesFillTheGaps) {
  // A large temporary dies; two halves fit where it was.
  FakeProgram program(64);
  const SlotId in = program.input();
  const SlotId large = program.temporary(), half = program.temporary(), other = program.temporary();
  const SlotId small = program.output();
  for (SlotId id : {half, other}) program.program().slots[id].type.shape = Shape{32};
  program.launch({in}, large);
  const SlotId middle = program.output();
  program.launch({large}, middle);
  program.launch({middle}, half);
  program.launch({middle}, other);
  program.launch({half, other}, small);
  Executable made = schedule(program.program(), on_null(1));
  EXPECT_EQ(made.arena_bytes, 512u);
  EXPECT_EQ(made.live_bytes, 512u);
  EXPECT_NO_THROW(verify(made));
}

TEST(MemoryPlan, AnOutputTakesOverAnInputThatIsNoLongerRead) {
  FakeProgram program(8);
  const SlotId first = program.input(), second = program.input(), third = program.input();
  const SlotId middle = program.temporary();
  program.launch({first}, middle).in_place.clear();
  program.launch({middle, second}, program.output());  // over `second`, which it reads last
  program.launch({third}, program.output()).in_place.clear();
  program.launch({third}, program.output());  // over `third`
  Executable made = schedule(program.program(), on_null(1));
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{1, 0}, {2, 2}, {0, 1}};
  EXPECT_EQ(made.takeovers, expected);
  EXPECT_NO_THROW(verify(made));
  made.takeovers = {{2, 1}};
  EXPECT_THROW(verify(made), InternalError);
}

TEST(MemoryPlan, RandomProgramsComeNearTheLowerBoundOnOneStream) {
  std::mt19937 random(6);
  std::size_t arena = 0, live = 0, sum = 0;
  for (int round = 0; round < 100; ++round) {
    FakeProgram program = random_program(random, 40, 8);
    for (Slot& slot : program.program().slots) {
      if (slot.kind != Slot::Kind::temporary) continue;
      slot.type.shape = Shape{static_cast<std::int64_t>(8 + random() % 1000)};
      sum += slot.type.bytes();
    }
    Executable made = schedule(program.program(), on_null(1));
    ASSERT_NO_THROW(verify(made));
    ASSERT_GE(made.arena_bytes, made.live_bytes);
    arena += made.arena_bytes;
    live += made.live_bytes;
  }
  EXPECT_LE(arena, live + live / 50);
  EXPECT_LT(arena, sum);
}

}  // namespace
}  // namespace anabranch
