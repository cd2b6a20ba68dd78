#include "ir/kernel/builder.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

// The second row of columns finds what the first has left.
TEST(KernelBuilder, PutsWhatHasAnIndexWhereItIsKnown) {
  KernelBuilder builder("rows");
  const std::uint32_t bias = builder.add_buffer({"in0", i64, 4, Access::read});
  const std::uint32_t in = builder.add_buffer({"in1", i64, 32, Access::read});
  const std::uint32_t out = builder.add_buffer({"out0", i64, 32, Access::write});
  IndexTable& table = builder.indices();
  const Index row = builder.index_of(builder.open_loop(4));
  const Index start = table.scale(row, 8);
  for (int turn = 0; turn < 2; ++turn) {
    const Index place = table.add(start, builder.index_of(builder.open_loop(8)));
    Ref sum = builder.compute(Op::add, i64, {builder.load(in, place), builder.load(bias, row)});
    sum = builder.compute(Op::add, i64, {sum, builder.scalar(start)});
    sum = builder.compute(Op::add, i64, {sum, builder.scalar(table.constant(3))});
    builder.store(out, place, builder.compute(Op::add, i64, {sum, builder.scalar(place)}));
    builder.close_loop();
  }
  builder.close_loop();
  const Kernel kernel = builder.take();
  verify(kernel);
  EXPECT_EQ(to_string(kernel), R"(kernel rows(in in0: i64[4], in in1: i64[32], out out0: i64[32]) {
  for i < 4 {
    %0: i64 = load in0[%i]
    %1: i64 = index %i * 8
    for j < 8 {
      %2: i64 = load in1[%i * 8 + %j]
      %3: i64 = add %2, %0
      %4: i64 = add %3, %1
      %5: i64 = add %4, 3
      %6: i64 = index %i * 8 + %j
      %7: i64 = add %5, %6
      store out0[%i * 8 + %j] = %7
    }
    for j < 8 {
      %8: i64 = load in1[%i * 8 + %j]
      %9: i64 = add %8, %0
      %10: i64 = add %9, %1
      %11: i64 = add %10, 3
      %12: i64 = index %i * 8 + %j
      %13: i64 = add %11, %12
      store out0[%i * 8 + %j] = %13
    }
  }
}
)");
}

TEST(KernelBuilder, MakesEqualLoadsAndValuesOnce) {
  KernelBuilder builder("once");
  const std::uint32_t in = builder.add_buffer({"in0", f32, 8, Access::read});
  const Index i = builder.index_of(builder.open_loop(8));
  const Index turned = builder.indices().add(builder.indices().scale(i, -1), 7);
  EXPECT_EQ(builder.load(in, i), builder.load(in, i));
  EXPECT_NE(builder.load(in, i), builder.load(in, turned));
  EXPECT_EQ(builder.scalar(turned), builder.scalar(turned));
  EXPECT_NE(builder.scalar(i), builder.scalar(turned));
  EXPECT_EQ(builder.used_indices().size(), 2u);
}

TEST(KernelBuilder, HoldsAScalarInBoundsBeforeItPlacesAnything) {
  KernelBuilder builder("clamped");
  const std::uint32_t start = builder.add_buffer({"in0", i32, 1, Access::read});
  const std::uint32_t in = builder.add_buffer({"in1", f32, 16, Access::read});
  const std::uint32_t out = builder.add_buffer({"out0", f32, 4, Access::write});
  IndexTable& table = builder.indices();
  const Index first = builder.clamped(builder.load(start, table.constant(0)), 12);
  EXPECT_EQ(table[first].high, 12);
  const Index i = builder.index_of(builder.open_loop(4));
  builder.store(out, i, builder.load(in, table.add(first, i)));
  builder.close_loop();
  const Kernel kernel = builder.take();
  verify(kernel);
  EXPECT_EQ(to_string(kernel),
            R"(kernel clamped(in in0: i32[1], in in1: f32[16], out out0: f32[4]) {
  %0: i32 = load in0[0]
  %1: i64 = convert %0
  %2: i64 = clamp 0, %1, 12
  for i < 4 {
    %3: f32 = load in1[%2 + %i]
    store out0[%i] = %3
  }
}
)");
}

}  // namespace
}  // namespace anabranch
