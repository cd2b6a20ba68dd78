#include "codegen/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "anabranch/error.h"
#include "ir/program/step_order.h"
#include "tests/support/fake_graphs.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::FakeProgram;
using testing::random_program;
using testing::reaching_program;
using testing::scheduled;
using testing::SizedProgram;
using testing::training_program;
using testing::transformer_program;

Options on_null(int streams) {
  Options options;
  options.device = Device::null();
  options.streams = streams;
  options.use_all_streams = true;
  return options;
}

TEST(MemoryPlan, AValueReadLaterIsNotWrittenOver) {
  FakeProgram program(8);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.step({in}, a);
  program.step({a}, b);
  program.step({a, b}, program.output());
  Program made = scheduled(program.program(), on_null(1));
  EXPECT_NE(made.slots[a].offset, made.slots[b].offset);
  EXPECT_EQ(made.arena_bytes(), 128u);
}

TEST(MemoryPlan, WhatMayRunAtTheSameTimeDoesNotShare) {
  FakeProgram program(8);
  const SlotId in = program.input();
  std::vector<SlotId> temporaries;
  for (int chain = 0; chain < 2; ++chain) {
    temporaries.push_back(program.temporary());
    program.step({in}, temporaries.back());
    program.step({temporaries.back()}, program.output());
  }
  EXPECT_EQ(scheduled(program.program(), on_null(1)).arena_bytes(), 64u);
  EXPECT_EQ(scheduled(program.program(), on_null(2)).arena_bytes(), 128u);
}

TEST(MemoryPlan, TheLowerBoundKnowsWhatMayRunAtTheSameTime) {
  FakeProgram program(8);
  const SlotId in = program.input();
  for (int chain = 0; chain < 3; ++chain) {
    const SlotId middle = program.temporary();
    program.step({in}, middle);
    program.step({middle}, program.output());
  }
  EXPECT_EQ(scheduled(program.program(), on_null(3)).devices[0].live_bytes, 3 * 64u);
  EXPECT_EQ(scheduled(program.program(), on_null(1)).devices[0].live_bytes, 64u);
}

// Places of temporaries that may not share bytes: of each pair, some use of each comes before, or
// beside, some use of the other.
std::vector<std::vector<bool>> conflicts(const Program& made) {
  const StepOrder order(made);
  const SlotUses uses(made, order);
  const auto comes_before = [&](SlotId a, SlotId b) {
    for (const SlotUse& mine : uses[a]) {
      for (const SlotUse& theirs : uses[b]) {
        if (!order.before(mine.step, theirs.step)) return false;
      }
    }
    return true;
  };
  std::vector<std::vector<bool>> found(made.slots.size(), std::vector<bool>(made.slots.size()));
  for (SlotId a = 0; a < made.slots.size(); ++a) {
    for (SlotId b = 0; b < made.slots.size(); ++b) {
      const bool temporary = made.slots[a].kind == Slot::Kind::temporary &&
                             made.slots[b].kind == Slot::Kind::temporary;
      found[a][b] = temporary && a != b && !comes_before(a, b) && !comes_before(b, a);
    }
  }
  return found;
}

std::size_t rounded_bytes(const Program& made, SlotId id) {
  return (made.slots[id].type.bytes() + 63) / 64 * 64;
}

// The most bytes of temporaries that all are in conflict with each other: every such set is tried
// that could be better than the best.
std::size_t heaviest_set(const Program& made) {
  const auto conflict = conflicts(made);
  std::size_t best = 0;
  const std::function<void(std::vector<SlotId>, std::size_t)> grow = [&](auto candidates,
                                                                         std::size_t weight) {
    best = std::max(best, weight);
    std::size_t left = 0;
    for (SlotId id : candidates) left += rounded_bytes(made, id);
    while (!candidates.empty() && weight + left > best) {
      const SlotId chosen = candidates.back();
      candidates.pop_back();
      left -= rounded_bytes(made, chosen);
      std::vector<SlotId> rest;
      for (SlotId id : candidates) {
        if (conflict[chosen][id]) rest.push_back(id);
      }
      grow(rest, weight + rounded_bytes(made, chosen));
    }
  };
  std::vector<SlotId> temporaries;
  for (SlotId id = 0; id < made.slots.size(); ++id) {
    if (made.slots[id].kind == Slot::Kind::temporary) temporaries.push_back(id);
  }
  grow(temporaries, 0);
  return best;
}

TEST(MemoryPlan, TheLowerBoundIsTheHeaviestSetOfWhatMayBeLiveTogether) {
  std::mt19937 random(8);
  int above_in_order = 0;
  for (int round = 0; round < 400; ++round) {
    SizedProgram program = reaching_program(random, 2 + static_cast<int>(random() % 28), 8);
    for (Step& step : program.program().steps) step.in_place.clear();
    const Program made = scheduled(program.program(), on_null(1 + static_cast<int>(random() % 4)));
    ASSERT_EQ(made.devices[0].live_bytes, heaviest_set(made)) << to_string(made);
    // What is live at once in one order of the steps is less.
    const StepOrder order(made);
    const SlotUses uses(made, order);
    std::size_t in_order = 0;
    for (StepRef step : order.steps()) {
      std::size_t live = 0;
      for (SlotId id = 0; id < made.slots.size(); ++id) {
        if (made.slots[id].kind != Slot::Kind::temporary || uses[id].empty()) continue;
        const auto at = [&](StepRef ref) {
          return std::find(order.steps().begin(), order.steps().end(), ref);
        };
        const bool is_live =
            at(uses[id].front().step) <= at(step) && at(step) <= at(uses[id].back().step);
        if (is_live) live += rounded_bytes(made, id);
      }
      in_order = std::max(in_order, live);
    }
    ASSERT_GE(made.devices[0].live_bytes, in_order);
    above_in_order += made.devices[0].live_bytes > in_order;
  }
  EXPECT_GT(above_in_order, 50);
}

TEST(MemoryPlan, AnOutputTakesOverAnInputThatIsNoLongerRead) {
  FakeProgram program(8);
  const SlotId first = program.input(), second = program.input(), third = program.input();
  const SlotId middle = program.temporary();
  program.step({first}, middle).in_place.clear();
  program.step({middle, second}, program.output());  // over `second`, which it reads last
  program.step({third}, program.output()).in_place.clear();
  program.step({third}, program.output());  // over `third`
  Program made = scheduled(program.program(), on_null(1));
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{1, 0}, {2, 2}, {0, 1}};
  EXPECT_EQ(made.donations, expected);
  EXPECT_NO_THROW(verify(made));
  made.donations = {{2, 1}};
  EXPECT_THROW(verify(made), InternalError);
}

// Each output begins when the input before it is over, and all have one size.
TEST(MemoryPlan, ManyOutputsTakeOverManyInputsOfTheirSize) {
  FakeProgram program(8);
  for (int i = 0; i < 200; ++i) {
    const SlotId in = program.input();
    program.step({in}, program.output()).in_place.clear();
  }
  const Program made = scheduled(program.program(), on_null(1));
  EXPECT_NO_THROW(verify(made));
  EXPECT_EQ(made.donations.size(), 199u);
}

TEST(MemoryPlan, AnOutputReturnedTwiceTakesOverOneInput) {
  FakeProgram program(8);
  program.input();
  program.input();
  program.step({program.input()}, program.output());
  program.program().outputs.push_back(program.program().outputs[0]);
  const Program made = scheduled(program.program(), on_null(1));
  EXPECT_NO_THROW(verify(made));
  EXPECT_EQ(made.donations.size(), 1u);
}

// A chain of updates: of an input that is given away all happens where that is.
TEST(MemoryPlan, WhatUpdatesMakeAnOutputOfIsInItsPlace) {
  FakeProgram program(8);
  // Slots are in any order.
  const SlotId in = program.input(), second = program.temporary(), first = program.temporary();
  const SlotId out = program.output();
  const auto update = [&](SlotId from, SlotId to) {
    program.step({from}, to).in_place_updates = {{from, to}};
  };
  update(in, first);
  update(first, second);
  update(second, out);
  Program made = scheduled(program.program(), on_null(1));
  EXPECT_EQ(made.arena_bytes(), 0u);
  EXPECT_EQ(made.slots[first].output, 0u);
  EXPECT_EQ(made.slots[second].output, 0u);
  EXPECT_EQ(made.donations, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}}));
  EXPECT_NO_THROW(verify(made));
  made.slots[first].output = 1;
  EXPECT_THROW(verify(made), InternalError);
}

TEST(MemoryPlan, WhatIsReadAfterItsUpdateIsNotInTheOutputsPlace) {
  FakeProgram program(8);
  const SlotId middle = program.temporary(), out = program.output();
  program.step({program.input()}, middle);
  program.step({middle}, out).in_place_updates = {{middle, out}};
  program.step({middle}, program.output());
  Program made = scheduled(program.program(), on_null(1));
  EXPECT_FALSE(made.slots[middle].output);
  EXPECT_NO_THROW(verify(made));
  made.slots[middle].output = 0;
  EXPECT_THROW(verify(made), InternalError);
}

double of_bound(Program program, int streams) {
  const Program made = scheduled(std::move(program), on_null(streams));
  verify(made);
  EXPECT_GE(made.arena_bytes(), made.devices[0].live_bytes);
  return static_cast<double>(made.arena_bytes()) / static_cast<double>(made.devices[0].live_bytes);
}

TEST(MemoryPlan, TrainingStepsAndTransformersComeNearTheLowerBound) {
  std::mt19937 random(20);
  int near_on_four = 0;
  for (int round = 0; round < 100; ++round) {
    SizedProgram step = training_program(random, 1 + static_cast<int>(random() % 40));
    EXPECT_LE(of_bound(step.program(), 1), 1.02) << "training step " << round;
    const double ratio = of_bound(step.program(), 4);
    EXPECT_LE(ratio, 1.04) << "training step " << round;
    near_on_four += ratio <= 1.02;
    SizedProgram blocks = transformer_program(random, 1 + static_cast<int>(random() % 6));
    for (int streams : {1, 4}) {
      EXPECT_LE(of_bound(blocks.program(), streams), 1.02)
          << "transformer " << round << " on " << streams << " streams";
    }
  }
  EXPECT_GE(near_on_four, 98);
}

// Hundreds are live at once.
TEST(MemoryPlan, DeepTrainingStepsComeNearTheLowerBound) {
  std::mt19937 random(21);
  for (int layers : {120, 200, 333}) {
    SizedProgram step = training_program(random, layers);
    for (int streams : {1, 4}) EXPECT_LE(of_bound(step.program(), streams), 1.02) << layers;
  }
}

// Any two values at all are read by a step, and sizes have nothing in common: 97 of 100 come
// near.
TEST(MemoryPlan, NearlyEveryRandomProgramComesNearTheLowerBound) {
  for (int streams : {1, 4}) {
    std::mt19937 random(6);
    int near = 0;
    for (int round = 0; round < 100; ++round) {
      FakeProgram program = random_program(random, 40, 8);
      for (Slot& slot : program.program().slots) {
        if (slot.kind != Slot::Kind::temporary) continue;
        slot.type.shape = Shape{static_cast<std::int64_t>(8 + random() % 1000)};
      }
      const double ratio = of_bound(program.program(), streams);
      EXPECT_LE(ratio, 1.04);
      near += ratio <= 1.02;
    }
    EXPECT_GE(near, 99) << streams << " streams";
  }
}

// The least arena of any packing. In the least one, pushed down, each temporary lies at 0 or on one
// that it conflicts with; so placing them in the order of their offsets, each as low as it can lie
// on those before it, finds it, and all orders are tried.
std::size_t least_arena(const Program& made) {
  const auto conflict = conflicts(made);
  std::vector<SlotId> order;
  for (SlotId id = 0; id < made.slots.size(); ++id) {
    if (made.slots[id].kind == Slot::Kind::temporary) order.push_back(id);
  }
  std::vector<std::size_t> ends(made.slots.size());
  std::size_t least = SIZE_MAX;
  const std::function<void(std::size_t, std::size_t)> place = [&](std::size_t placed,
                                                                  std::size_t top) {
    if (top >= least || least == made.devices[0].live_bytes) return;
    if (placed == order.size()) least = top;
    for (std::size_t next = placed; next < order.size(); ++next) {
      std::swap(order[placed], order[next]);
      std::size_t floor = 0;
      for (std::size_t i = 0; i < placed; ++i) {
        if (conflict[order[i]][order[placed]]) floor = std::max(floor, ends[order[i]]);
      }
      ends[order[placed]] = floor + rounded_bytes(made, order[placed]);
      place(placed + 1, std::max(top, ends[order[placed]]));
      std::swap(order[placed], order[next]);
    }
  };
  place(0, 0);
  return least;
}

TEST(MemoryPlan, NoPackingOfSmallProgramsIsSmaller) {
  std::mt19937 random(9);
  for (int round = 0; round < 400; ++round) {
    SizedProgram program = reaching_program(random, 10, 4);
    for (Step& step : program.program().steps) step.in_place.clear();
    for (Slot& slot : program.program().slots) {
      slot.type.shape = Shape{8 * static_cast<std::int64_t>(1 + random() % 5)};
    }
    const int streams = 1 + static_cast<int>(random() % 4);
    const Program made = scheduled(program.program(), on_null(streams));
    ASSERT_EQ(made.arena_bytes(), least_arena(made)) << to_string(made);
  }
}

// What is live at once does not always fit into as many bytes, whoever packs it: here six are the
// least, for five.
TEST(MemoryPlan, NotEveryProgramFitsIntoItsLowerBound) {
  struct Life {
    int begin, end;
    std::int64_t size;
  };
  const std::vector<Life> lives = {{7, 7, 2}, {0, 0, 2}, {3, 6, 1}, {1, 2, 1},
                                   {4, 6, 1}, {1, 4, 1}, {6, 7, 3}, {0, 3, 3}};
  SizedProgram program;
  const SlotId in = program.input(8);
  std::vector<SlotId> ids;
  for (const Life& life : lives) {
    ids.push_back(program.temporary());
    program.program().slots[ids.back()].type.shape = Shape{8 * life.size};
  }
  for (int at = 0; at < 8; ++at) {
    Step& step = program.step({in}, program.output(8));
    step.in_place.clear();
    for (std::size_t i = 0; i < lives.size(); ++i) {
      if (lives[i].begin == at) step.writes.push_back(ids[i]);
      if (lives[i].begin == at || lives[i].end == at) step.buffers.push_back(ids[i]);
    }
  }
  const Program made = scheduled(program.program(), on_null(1));
  EXPECT_EQ(made.devices[0].live_bytes, 5 * 64u);
  EXPECT_EQ(least_arena(made), 6 * 64u);
  EXPECT_EQ(made.arena_bytes(), 6 * 64u);
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
    Program made = scheduled(program.program(), on_null(1));
    ASSERT_NO_THROW(verify(made));
    ASSERT_GE(made.arena_bytes(), made.devices[0].live_bytes);
    arena += made.arena_bytes();
    live += made.devices[0].live_bytes;
  }
  EXPECT_LE(arena, live + live / 50);
  EXPECT_LT(arena, sum);
}

}  // namespace
}  // namespace anabranch
