// gather and scatter, by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/apply.h"

namespace anabranch {
namespace {

const Literal six = grid<int>({2, 3}, {1, 2, 3, 4, 5, 6});
const Literal twelve = grid<int>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

// --- gather --------------------------------------------------------------------------------------

TEST(InterpretGather, TakesRows) {
  const GatherAttributes rows{{1}, {0}, {}, {}, {0}, 1, {1, 3}};
  EXPECT_EQ(apply(Op::gather, {six, row<int>({1, 0, 1})}, rows),
            grid<int>({3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(apply(Op::gather, {six, row<int>({})}, rows), grid<int>({0, 3}, {}));
}

// A start outside is moved to where the window fits, however far it is.
TEST(InterpretGather, HoldsWindowsInside) {
  const GatherAttributes windows{{1}, {0}, {}, {}, {0, 1}, 1, {1, 2}};
  const Literal starts = grid<std::int64_t>(
      {4, 2}, {0, 1, -1, 2, 9, INT64_MIN, std::numeric_limits<std::int64_t>::max(), 9});
  EXPECT_EQ(apply(Op::gather, {six, starts}, windows), grid<int>({4, 2}, {2, 3, 2, 3, 4, 5, 5, 6}));
}

// The vectors are along the first axis, and their components in another order than the axes.
TEST(InterpretGather, ReadsVectorsAlongAnyAxis) {
  const GatherAttributes points{{}, {0, 1}, {}, {}, {1, 0}, 0, {1, 1}};
  EXPECT_EQ(apply(Op::gather, {six, grid<int>({2, 3}, {2, 0, 1, 0, 1, 1})}, points),
            row<int>({3, 4, 5}));
}

TEST(InterpretGather, PutsWindowsWhereTheOffsetsSay) {
  const GatherAttributes columns{{0}, {1}, {}, {}, {1}, 1, {2, 1}};
  EXPECT_EQ(apply(Op::gather, {six, row<int>({2, 0})}, columns), grid<int>({2, 2}, {3, 1, 6, 4}));
}

// Row i of the indices reads slab i of the operand, the batch being the last axis of the indices.
TEST(InterpretGather, GoesAlongBatches) {
  const GatherAttributes batched{{2}, {1}, {0}, {1}, {1}, 2, {1, 1, 2}};
  EXPECT_EQ(apply(Op::gather, {twelve, grid<int>({1, 2}, {2, 0})}, batched),
            grid<int>({1, 2, 2}, {5, 6, 7, 8}));
}

TEST(InterpretGather, WithoutVectorsReadsFromTheStart) {
  const GatherAttributes still{{1}, {0}, {}, {}, {}, 0, {1, 2}};
  EXPECT_EQ(apply(Op::gather, {six, grid<int>({0, 2}, {})}, still),
            grid<int>({2, 2}, {1, 2, 1, 2}));
}

// --- scatter -------------------------------------------------------------------------------------

ScatterAttributes rows_by(ScatterCombiner combiner) { return {{1}, {0}, {}, {}, {0}, 1, combiner}; }
ScatterAttributes elements_by(ScatterCombiner combiner) {
  return {{}, {0}, {}, {}, {0}, 1, combiner};
}

TEST(InterpretScatter, CombinesRowsInTheirOrder) {
  const Literal at = row<int>({1, 1, 0});
  const Literal updates = grid<int>({3, 3}, {10, 20, 30, 40, 50, 60, 7, 8, 9});
  EXPECT_EQ(apply(Op::scatter, {six, at, updates}, rows_by(ScatterCombiner::add)),
            grid<int>({2, 3}, {8, 10, 12, 54, 75, 96}));
  EXPECT_EQ(apply(Op::scatter, {six, at, updates}, rows_by(ScatterCombiner::replace)),
            grid<int>({2, 3}, {7, 8, 9, 40, 50, 60}));
}

TEST(InterpretScatter, LeavesOutWhatIsOutside) {
  const Literal updates = row<int>({10, 20, 30, 40});
  EXPECT_EQ(apply(Op::scatter, {row<int>({1, 2}), row<int>({-1, 2, 1, INT32_MIN}), updates},
                  elements_by(ScatterCombiner::add)),
            row<int>({1, 32}));
  // Of a window, only the elements that are outside.
  const ScatterAttributes window{{0}, {}, {}, {}, {0}, 0, ScatterCombiner::replace};
  EXPECT_EQ(apply(Op::scatter, {row<int>({1, 2, 3}), row<int>({-1}), row<int>({7, 8})}, window),
            row<int>({8, 2, 3}));
  EXPECT_EQ(apply(Op::scatter, {row<int>({1, 2, 3}), row<int>({2}), row<int>({7, 8})}, window),
            row<int>({1, 2, 7}));
  const Literal far = row<std::int64_t>({std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(apply(Op::scatter, {row<int>({1, 2, 3}), far, row<int>({7, 8})}, window),
            row<int>({1, 2, 3}));
}

TEST(InterpretScatter, GoesAlongBatches) {
  const ScatterAttributes batched{{2}, {1}, {0}, {1}, {1}, 2, ScatterCombiner::add};
  EXPECT_EQ(apply(Op::scatter,
                  {twelve, grid<int>({1, 2}, {2, 0}), grid<int>({1, 2, 2}, {100, 200, 300, 400})},
                  batched),
            grid<int>({2, 3, 2}, {1, 2, 3, 4, 105, 206, 307, 408, 9, 10, 11, 12}));
}

TEST(InterpretScatter, CombinesAsTheOpsOfTheseNames) {
  const auto of = [](ScatterCombiner combiner, float x, std::vector<float> updates) {
    return apply(Op::scatter,
                 {row<float>({x}), row<int>(std::vector<int>(updates.size(), 0)), row(updates)},
                 elements_by(combiner))
        .values<float>()[0];
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(of(ScatterCombiner::multiply, 3, {4, 0.5f}), 6);
  EXPECT_EQ(of(ScatterCombiner::minimum, 3, {4, -1, 2}), -1);
  EXPECT_EQ(of(ScatterCombiner::maximum, 3, {4, -1}), 4);
  EXPECT_TRUE(std::isnan(of(ScatterCombiner::maximum, 3, {nan, 4})));
  EXPECT_TRUE(std::signbit(of(ScatterCombiner::minimum, 0.0f, {-0.0f})));
  EXPECT_FALSE(std::signbit(of(ScatterCombiner::maximum, -0.0f, {0.0f})));
}

TEST(InterpretScatter, CombinesBits) {
  const auto of = [](ScatterCombiner combiner) {
    return apply(Op::scatter,
                 {row<std::uint8_t>({0b1100}), row<int>({0}), row<std::uint8_t>({0b1010})},
                 elements_by(combiner))
        .values<std::uint8_t>()[0];
  };
  EXPECT_EQ(of(ScatterCombiner::and_), 0b1000);
  EXPECT_EQ(of(ScatterCombiner::or_), 0b1110);
  EXPECT_EQ(of(ScatterCombiner::xor_), 0b0110);
}

// Integers wrap, and a bool's sum and product are "or" and "and".
TEST(InterpretScatter, OfNarrowIntegersAndBools) {
  EXPECT_EQ(apply(Op::scatter, {row<std::int8_t>({100}), row<int>({0}), row<std::int8_t>({100})},
                  elements_by(ScatterCombiner::add)),
            row<std::int8_t>({-56}));
  const auto of = [](ScatterCombiner combiner, bool x, bool y) {
    return apply(Op::scatter, {row(std::vector<bool>{x}), row<int>({0}), row(std::vector<bool>{y})},
                 elements_by(combiner))
        .values<bool>()[0];
  };
  EXPECT_TRUE(of(ScatterCombiner::add, true, true));
  EXPECT_FALSE(of(ScatterCombiner::multiply, true, false));
  EXPECT_FALSE(of(ScatterCombiner::minimum, true, false));
  EXPECT_TRUE(of(ScatterCombiner::maximum, false, true));
  EXPECT_FALSE(of(ScatterCombiner::xor_, true, true));
}

// 2048 is where an f16 counts no further by ones: it is rounded every time.
TEST(InterpretScatter, RoundsEveryTime) {
  const std::vector<Float16> ones(8, Float16(1.0f));
  EXPECT_EQ(apply(Op::scatter,
                  {row<Float16>({Float16(2048.0f)}), row<int>(std::vector<int>(8, 0)), row(ones)},
                  elements_by(ScatterCombiner::add)),
            row<Float16>({Float16(2048.0f)}));
}

}  // namespace
}  // namespace anabranch
