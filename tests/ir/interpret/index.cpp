// The interpreter on index maps and leaves.
#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

const Literal six = grid<int>({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Interpret, Iota) {
  EXPECT_EQ(apply(Op::iota, {}, AxisAttributes{1}, Type{i32, {2, 3}}),
            grid<int>({2, 3}, {0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(apply(Op::iota, {}, AxisAttributes{0}, Type{f32, {2, 2}}),
            grid<float>({2, 2}, {0, 0, 1, 1}));
  EXPECT_EQ(apply(Op::iota, {}, AxisAttributes{0}, Type{u8, {258}}).values<std::uint8_t>()[257], 1);
}

TEST(Interpret, Reshape) {
  EXPECT_EQ(apply(Op::reshape, {six}, NoAttributes{}, Type{i32, {3, 1, 2}}),
            grid<int>({3, 1, 2}, {1, 2, 3, 4, 5, 6}));
}

TEST(Interpret, Broadcast) {
  EXPECT_EQ(apply(Op::broadcast_in_dim, {row<int>({7, 8})}, AxesAttributes{{0}}, Type{i32, {2, 3}}),
            grid<int>({2, 3}, {7, 7, 7, 8, 8, 8}));
  EXPECT_EQ(apply(Op::broadcast_in_dim, {grid<int>({1, 2}, {7, 8})}, AxesAttributes{{0, 1}},
                  Type{i32, {2, 2}}),
            grid<int>({2, 2}, {7, 8, 7, 8}));
  EXPECT_EQ(apply(Op::broadcast_in_dim, {six}, AxesAttributes{{1, 0}}, Type{i32, {3, 2}}),
            grid<int>({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(apply(Op::broadcast_in_dim, {grid<int>({1}, {7})}, AxesAttributes{{0}}, Type{i32, {0}}),
            grid<int>({0}, {}));
}

TEST(Interpret, Transpose) {
  EXPECT_EQ(apply(Op::transpose, {six}, AxesAttributes{{1, 0}}),
            grid<int>({3, 2}, {1, 4, 2, 5, 3, 6}));
  // Result axis i is operand axis axes[i]: [2,3,1] under [1,2,0] is [3,1,2].
  EXPECT_EQ(
      apply(Op::transpose, {grid<int>({2, 3, 1}, {1, 2, 3, 4, 5, 6})}, AxesAttributes{{1, 2, 0}}),
      grid<int>({3, 1, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Interpret, Slice) {
  EXPECT_EQ(apply(Op::slice, {six}, SliceAttributes{{0, 1}, {2, 3}, {1, 1}}),
            grid<int>({2, 2}, {2, 3, 5, 6}));
  EXPECT_EQ(apply(Op::slice, {row<int>({0, 1, 2, 3, 4, 5, 6})}, SliceAttributes{{1}, {7}, {3}}),
            row<int>({1, 4}));
  EXPECT_EQ(apply(Op::slice, {six}, SliceAttributes{{1, 2}, {1, 3}, {1, 1}}),
            grid<int>({0, 1}, {}));
}

TEST(Interpret, Reverse) {
  EXPECT_EQ(apply(Op::reverse, {six}, AxesAttributes{{1}}), grid<int>({2, 3}, {3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(apply(Op::reverse, {six}, AxesAttributes{{0, 1}}),
            grid<int>({2, 3}, {6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(apply(Op::reverse, {six}, AxesAttributes{}), six);
}

TEST(Interpret, Pad) {
  const Literal nine = Literal::scalar<int>(9);
  EXPECT_EQ(apply(Op::sliding_windows, {row<int>({1, 2, 3, 4})}, WindowsAttributes{{2}, {1}, {1}}),
            grid<int>({3, 2}, {1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(
      apply(Op::sliding_windows, {row<int>({1, 2, 3, 4, 5})}, WindowsAttributes{{2}, {2}, {2}}),
      grid<int>({2, 2}, {1, 3, 3, 5}));
  EXPECT_EQ(apply(Op::sliding_windows, {grid<int>({2, 3}, {1, 2, 3, 4, 5, 6})},
                  WindowsAttributes{{2, 2}, {1, 1}, {1, 1}}),
            grid<int>({1, 2, 2, 2}, {1, 2, 4, 5, 2, 3, 5, 6}));
  EXPECT_EQ(apply(Op::pad, {row<int>({1, 2, 3}), nine}, PadAttributes{{1}, {2}, {1}}),
            row<int>({9, 1, 9, 2, 9, 3, 9, 9}));
  EXPECT_EQ(apply(Op::pad, {row<int>({1, 2, 3}), nine}, PadAttributes{{-1}, {1}, {0}}),
            row<int>({2, 3, 9}));
  // Cropping may cut into the interior too.
  EXPECT_EQ(apply(Op::pad, {row<int>({1, 2, 3}), nine}, PadAttributes{{-1}, {-1}, {2}}),
            row<int>({9, 9, 2, 9, 9}));
  EXPECT_EQ(apply(Op::pad, {grid<int>({0, 1}, {}), nine}, PadAttributes{{1, 0}, {0, 1}, {0, 0}}),
            grid<int>({1, 2}, {9, 9}));
}

TEST(Interpret, Concatenate) {
  EXPECT_EQ(apply(Op::concatenate, {six, grid<int>({2, 0}, {}), grid<int>({2, 1}, {7, 8})},
                  AxisAttributes{1}),
            grid<int>({2, 4}, {1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(apply(Op::concatenate, {six, grid<int>({1, 3}, {7, 8, 9})}, AxisAttributes{0}),
            grid<int>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Interpret, ElementsOfAnyWidthMove) {
  for (Dtype dtype : {bool_, i8, u16, f16, bf16, f32, i64, f64}) {
    const Literal x = apply(Op::convert, {six}, NoAttributes{}, Type{dtype, {2, 3}});
    const Literal turned = apply(Op::transpose, {x}, AxesAttributes{{1, 0}});
    EXPECT_EQ(apply(Op::transpose, {turned}, AxesAttributes{{1, 0}}), x) << name(dtype);
    EXPECT_EQ(turned.bits(1).low, x.bits(3).low) << name(dtype);
  }
}

TEST(Interpret, RefusesOtherInputsThanTheParameters) {
  GraphBuilder builder("doubled");
  const Value x = builder.parameter({f32, {2}});
  const Graph graph = builder.build({builder.add(Op::add, {x, x})});
  EXPECT_EQ(interpret(graph, std::vector{row<float>({1, 2})})[0], row<float>({2, 4}));
  const auto message = [&](const std::vector<Literal>& inputs) -> std::string {
    try {
      interpret(graph, inputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({}), "interpret: graph doubled takes 1 inputs, and 0 were given");
  EXPECT_EQ(message({row<int>({1, 2})}),
            "interpret: input 0 of graph doubled is i32[2], and the graph takes f32[2]");
}

// A start outside is moved to the nearest place where the block fits.
TEST(Interpret, DynamicSlice) {
  const auto at = [](int row, std::int64_t column) {
    return apply(Op::dynamic_slice, {six, Literal::scalar(row), Literal::scalar(column)},
                 SizesAttributes{{1, 2}});
  };
  EXPECT_EQ(at(0, 0), grid<int>({1, 2}, {1, 2}));
  EXPECT_EQ(at(1, 1), grid<int>({1, 2}, {5, 6}));
  EXPECT_EQ(at(-1, 2), grid<int>({1, 2}, {2, 3}));
  EXPECT_EQ(at(9, INT64_MIN), grid<int>({1, 2}, {4, 5}));
}

TEST(Interpret, DynamicUpdateSlice) {
  const auto at = [](int row, std::int64_t column) {
    return apply(Op::dynamic_update_slice,
                 {six, grid<int>({1, 2}, {7, 8}), Literal::scalar(row), Literal::scalar(column)});
  };
  EXPECT_EQ(at(0, 0), grid<int>({2, 3}, {7, 8, 3, 4, 5, 6}));
  EXPECT_EQ(at(1, 5), grid<int>({2, 3}, {1, 2, 3, 4, 7, 8}));
  EXPECT_EQ(at(-7, 1), grid<int>({2, 3}, {1, 7, 8, 4, 5, 6}));
}

}  // namespace
}  // namespace anabranch
