// The interpreter on sorts and running combinations.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "tests/support/apply.h"

namespace anabranch {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

Literal sorted(const Literal& x, std::int64_t axis, bool descending = false) {
  return apply(Op::sort, {x}, SortAttributes{axis, descending});
}
Literal positions(const Literal& x, std::int64_t axis, bool descending = false) {
  return apply(Op::argsort, {x}, ArgsortAttributes{axis, descending, PositionDtype::i32});
}
Literal running(const Literal& x, Running of, std::int64_t axis = 0, bool reverse = false) {
  return apply(Op::cumulative, {x}, CumulativeAttributes{axis, of, reverse});
}

TEST(Interpret, SortsAlongAnyAxis) {
  const Literal x = grid<int>({2, 3}, {3, 1, 2, 0, 5, -4});
  EXPECT_EQ(sorted(x, 1), grid<int>({2, 3}, {1, 2, 3, -4, 0, 5}));
  EXPECT_EQ(sorted(x, 0), grid<int>({2, 3}, {0, 1, -4, 3, 5, 2}));
  EXPECT_EQ(sorted(x, 1, true), grid<int>({2, 3}, {3, 2, 1, 5, 0, -4}));
  EXPECT_EQ(positions(x, 1), grid<int>({2, 3}, {1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(sorted(row({true, false, true}), 0), row({false, true, true}));
  EXPECT_EQ(sorted(row<std::uint8_t>({200, 3}), 0), row<std::uint8_t>({3, 200}));
}

TEST(Interpret, EqualElementsKeepTheirOrder) {
  const Literal x = row<int>({1, 0, 1, 0, 1});
  EXPECT_EQ(positions(x, 0), row<int>({1, 3, 0, 2, 4}));
  EXPECT_EQ(positions(x, 0, true), row<int>({0, 2, 4, 1, 3}));
}

TEST(Interpret, NansAreAboveAllElseAndZerosAreEqual) {
  const Literal x = row<float>({NAN, 0.0f, inf, -0.0f, -NAN, -1, -inf});
  EXPECT_EQ(positions(x, 0), row<int>({6, 5, 1, 3, 2, 0, 4}));
  EXPECT_EQ(positions(x, 0, true), row<int>({0, 4, 2, 1, 3, 5, 6}));
  const Literal ascending = sorted(x, 0);
  const auto values = ascending.values<float>();
  EXPECT_FALSE(std::signbit(values[2]));
  EXPECT_TRUE(std::signbit(values[3]));
  EXPECT_FALSE(std::signbit(values[5]));
  EXPECT_TRUE(std::signbit(values[6]));
}

TEST(Interpret, RunningSumsAndProductsOfComplexNumbers) {
  using C = std::complex<float>;
  const Literal x = row<C>({{1, 2}, {0, -1}, {3, 0}});
  EXPECT_EQ(running(x, Running::sum), row<C>({{1, 2}, {1, 1}, {4, 1}}));
  EXPECT_EQ(running(x, Running::product), row<C>({{1, 2}, {2, -1}, {6, -3}}));
  EXPECT_EQ(running(x, Running::product, 0, true), row<C>({{6, -3}, {0, -3}, {3, 0}}));
  EXPECT_EQ(running(row<C>({{-0.0f, -0.0f}}), Running::sum), row<C>({{-0.0f, -0.0f}}));
}

TEST(Interpret, SortsNothing) {
  EXPECT_EQ(sorted(grid<int>({0}, {}), 0), grid<int>({0}, {}));
  EXPECT_EQ(sorted(grid<float>({2, 0}, {}), 0), grid<float>({2, 0}, {}));
  EXPECT_EQ(positions(grid<float>({0, 2}, {}), 0), grid<int>({0, 2}, {}));
}

TEST(Interpret, RunningCombinations) {
  const Literal x = grid<int>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(running(x, Running::sum, 1), grid<int>({2, 3}, {1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(running(x, Running::sum, 0), grid<int>({2, 3}, {1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(running(x, Running::sum, 1, true), grid<int>({2, 3}, {6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(running(x, Running::product, 1), grid<int>({2, 3}, {1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(running(row<int>({1, 3, 2}), Running::maximum), row<int>({1, 3, 3}));
  EXPECT_EQ(running(row<int>({3, 1, 2}), Running::minimum), row<int>({3, 1, 1}));
  EXPECT_EQ(running(row({false, true, false}), Running::maximum), row({false, true, true}));
  EXPECT_EQ(running(grid<int>({0}, {}), Running::sum), grid<int>({0}, {}));
}

TEST(Interpret, RunningCombinationsWrapAndRoundOnce) {
  EXPECT_EQ(running(row<std::int8_t>({100, 100}), Running::sum), row<std::int8_t>({100, -56}));
  EXPECT_EQ(running(row<Float16>({Float16(2048.f), Float16(1.f), Float16(1.f)}), Running::sum),
            row<Float16>({Float16(2048.f), Float16(2048.f), Float16(2050.f)}));
}

TEST(Interpret, RunningCombinationsSeeNanAndTheSignOfZero) {
  EXPECT_EQ(running(row<float>({-0.0f, -0.0f, 0.0f}), Running::sum),
            row<float>({-0.0f, -0.0f, 0.0f}));
  EXPECT_EQ(running(row<float>({-0.0f, 0.0f}), Running::maximum), row<float>({-0.0f, 0.0f}));
  EXPECT_EQ(running(row<float>({0.0f, -0.0f}), Running::minimum), row<float>({0.0f, -0.0f}));
  const Literal greatest = running(row<float>({1, NAN, 2}), Running::maximum);
  const auto values = greatest.values<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
}

}  // namespace
}  // namespace anabranch
