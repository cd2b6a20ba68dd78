// Columns that are combined a few rows at a time give what the interpreter gives. What becomes of
// the loops: tests/golden/kernel/accumulate_rows.
#include "codegen/cpu/accumulate_rows.h"

#include <gtest/gtest.h>

#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

/// Whether the pass does anything to the region's first kernel.
bool is_cut(const Graph& region, const LowerTarget& target = {}) {
  const auto run = [&](const std::vector<std::string>& disabled) {
    return to_string(run_passes(cpu::kernel_passes(), lower_region(region, target).calls[0].kernel,
                                KernelContext{}, {.disabled = disabled}));
  };
  return run({}) != run({"accumulate_rows"});
}

Graph columns(const std::string& op, const std::string& dtype, std::int64_t n, std::int64_t m) {
  return parse(with_sizes("graph columns(%0: " + dtype + "[N,M]) {\n  %1: " + dtype +
                              "[M] = " + op + " %0 axes=[0]\n  return %1\n}",
                          n, m));
}

TEST(AccumulateRows, CombinesInAnyWay) {
  for (const char* op : {"reduce_sum", "reduce_product", "reduce_max", "reduce_min"}) {
    const Graph region = columns(op, "f32", 64, 16500);
    EXPECT_TRUE(is_cut(region)) << op;
    expect_lowers(region, 1e-5);
  }
  const Graph any = columns("reduce_any", "bool", 24, 176000);
  EXPECT_TRUE(is_cut(any));
  expect_lowers(any);
}

TEST(AccumulateRows, OfAnyDtype) {
  for (const char* dtype : {"f64", "i64", "c64"}) {
    const Graph region = columns("reduce_sum", dtype, 24, 22000);
    EXPECT_TRUE(is_cut(region)) << dtype;
    expect_lowers(region);
  }
}

// Blocks of 13 and of 6 rows, panels that are no whole vectors, and none for want of a divisor.
TEST(AccumulateRows, WhereSizesHaveDivisors) {
  const auto expect = [](std::int64_t rows, std::int64_t across, bool cut) {
    const Graph region = columns("reduce_sum", "f32", rows, across);
    EXPECT_EQ(is_cut(region), cut) << rows << " " << across;
    expect_lowers(region);
  };
  expect(65, 16380, true);
  expect(30, 36003, true);
  expect(256, 8192, true);
  expect(67, 16000, false);
  expect(520, 8192, false);
  expect(64, 16411, false);
  expect(16, 70000, false);
}

TEST(AccumulateRows, BetweenOtherAxes) {
  const Graph region = parse(R"(
graph layers(%0: f32[40,24,2000], %1: f32[24]) {
  %2: f32[40,24,2000] = broadcast_in_dim %1 axes=[1]
  %3: f32[40,24,2000] = multiply %0, %2
  %4: f32[40,2000] = reduce_sum %3 axes=[1]
  %5: f32[40,2000] = reduce_max %3 axes=[1]
  return %4, %5
})");
  EXPECT_TRUE(is_cut(region));
  expect_lowers(region);
}

// In blocks of four rows, of which the last computes rows again. What they give is in the oracle's
// regressions: here it would take minutes.
TEST(AccumulateRows, OfProducts) {
  for (std::int64_t rows : {5, 6, 12}) {
    const Graph region = parse(with_sizes(R"(
graph few(%0: i32[N,128], %1: i32[128,M]) {
  %2: i32[N,M] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
})",
                                          rows, 8192));
    EXPECT_TRUE(is_cut(region)) << rows;
  }
}

// What is added first would be written over the factors of later rows.
TEST(AccumulateRows, NotOverAnOperand) {
  const auto weighted = [](const std::string& size, const std::string& axis) {
    return parse("graph weighted(%0: f32[128,8448], %1: f32[" + size + R"(]) {
  %2: f32[128,8448] = broadcast_in_dim %1 axes=[)" +
                 axis + R"(]
  %3: f32[128,8448] = multiply %0, %2
  %4: f32[8448] = reduce_sum %3 axes=[0]
  return %4
})");
  };
  EXPECT_TRUE(is_cut(weighted("128", "0")));
  EXPECT_FALSE(is_cut(weighted("8448", "1")));
}

TEST(AccumulateRows, OfChunks) {
  const Graph region = columns("reduce_sum", "f64", 1031, 1024);  // the last chunk is no whole one
  EXPECT_TRUE(is_cut(region, in_chunks));
  expect_lowers(region, 0, {}, in_chunks);
}

}  // namespace
}  // namespace anabranch::testing
