// Products of groups; the values are those of jax.lax.ragged_dot_general.
#include <anabranch/anabranch.h>
#include <gtest/gtest.h>

#include "tests/frontend/stablehlo/run_text.h"

namespace {

namespace ab = anabranch;
using ab::testing::problems_of;

TEST(StablehloRaggedDot, EachGroupOfRowsHasItsMatrix) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[-2, -1], [0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<5x2xi32>
  %y = stablehlo.constant dense<[[[-2, -1], [0, 1]], [[2, 3], [4, 5]], [[6, 7], [8, 9]]]> : tensor<3x2x2xi32>
  %g = stablehlo.constant dense<[2, 0, 2]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%x, %y, %g) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x2xi32>, tensor<3x2x2xi32>, tensor<3xi32>) -> tensor<5x2xi32>
  check.expect_eq_const %0, dense<[[4, 1], [0, 1], [36, 41], [64, 73], [0, 0]]> : tensor<5x2xi32>
  %h = stablehlo.constant dense<[2, 0, 2]> : tensor<3xui8>
  %1 = "mhlo.ragged_dot"(%x, %y, %h) {ragged_dot_dimension_numbers = #mhlo.ragged_dot<dot_dimension_numbers = <lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<5x2xi32>, tensor<3x2x2xi32>, tensor<3xui8>) -> tensor<5x2xi32>
  check.expect_eq %0, %1 : tensor<5x2xi32>
  %none = stablehlo.constant dense<> : tensor<0x2x2xi32>
  %no = stablehlo.constant dense<> : tensor<0xi64>
  %2 = "chlo.ragged_dot"(%x, %none, %no) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x2xi32>, tensor<0x2x2xi32>, tensor<0xi64>) -> tensor<5x2xi32>
  check.expect_eq_const %2, dense<0> : tensor<5x2xi32>)"),
            "");
}

// Axes: x, rows, batch, summed; summed, column, group, batch.
TEST(StablehloRaggedDot, GroupSizesForEachBatchAndOuterRow) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[[-2, -1], [0, 1]], [[2, 3], [4, 5]], [[6, 7], [8, 9]]], [[[10, 11], [12, 13]], [[14, 15], [16, 17]], [[18, 19], [20, 21]]]]> : tensor<2x3x2x2xi32>
  %y = stablehlo.constant dense<[[[[-2, -1], [0, 1]]], [[[2, 3], [4, 5]]]]> : tensor<2x1x2x2xi32>
  %g = stablehlo.constant dense<[[[1, 2], [2, 0]], [[0, 3], [3, 0]]]> : tensor<2x2x2xi64>
  %0 = "chlo.ragged_dot"(%x, %y, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [3], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = [2]>}> : (tensor<2x3x2x2xi32>, tensor<2x1x2x2xi32>, tensor<2x2x2xi64>) -> tensor<2x2x3x1xi32>
  check.expect_eq_const %0, dense<[[[[2], [12], [28]], [[2], [2], [0]]], [[[5], [29], [53]], [[27], [35], [43]]]]> : tensor<2x2x3x1xi32>)"),
            "");
}

TEST(StablehloRaggedDot, EachPartOfASumIsOneProduct) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[-2, -1], [0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<5x2xi32>
  %g = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%x, %x, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<5x2xi32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[4, 2], [2, 2]], [[20, 26], [26, 34]]]> : tensor<2x2x2xi32>
  %y = stablehlo.constant dense<[[[[-2], [-1], [0]], [[1], [2], [3]]], [[[4], [5], [6]], [[7], [8], [9]]]]> : tensor<2x2x3x1xi32>
  %z = stablehlo.constant dense<[[[[-2, -1], [0, 1]], [[2, 3], [4, 5]]], [[[6, 7], [8, 9]], [[10, 11], [12, 13]]], [[[14, 15], [16, 17]], [[18, 19], [20, 21]]]]> : tensor<3x2x2x2xi32>
  %h = stablehlo.constant dense<[[[1, 1], [0, 3]], [[2, 0], [1, 2]]]> : tensor<2x2x2xi32>
  %1 = "chlo.ragged_dot"(%y, %z, %h) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [2, 0], lhs_ragged_dimensions = [2]>}> : (tensor<2x2x3x1xi32>, tensor<3x2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x1x2xi32>
  check.expect_eq_const %1, dense<[[[[4, 2]], [[86, 102]]], [[[58, 63]], [[276, 293]]]]> : tensor<2x2x1x2xi32>)"),
            "");
}

TEST(StablehloRaggedDot, GroupsOfABatchMakeNoDifference) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[-2, -1], [0, 1]], [[2, 3], [4, 5]]]> : tensor<2x2x2xi32>
  %g = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%x, %x, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<2x2x2xi32>, tensor<2x2x2xi32>, tensor<2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[4, 1], [0, 1]], [[16, 21], [28, 37]]]> : tensor<2x2x2xi32>)"),
            "");
}

// What is infinite or NaN in one group, or in rows of none, is in no other.
TEST(StablehloRaggedDot, GroupsAreApart) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[1.0, 2.0], [0x7FC00000, 1.0], [3.0, 4.0], [0x7FC00000, 0x7F800000]]> : tensor<4x2xf32>
  %y = stablehlo.constant dense<[[[0x7F800000], [1.0]], [[2.0], [3.0]]]> : tensor<2x2x1xf32>
  %g = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%x, %y, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<4x1xf32>
  check.expect_eq_const %0, dense<[[0x7F800000], [0x7FC00000], [18.0], [0.0]]> : tensor<4x1xf32>
  %1 = "chlo.ragged_dot"(%x, %x, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<2xi32>) -> tensor<2x2x2xf32>
  check.expect_eq_const %1, dense<[[[0x7FC00000, 0x7FC00000], [0x7FC00000, 5.0]], [[9.0, 12.0], [12.0, 16.0]]]> : tensor<2x2x2xf32>)"),
            "");
}

TEST(StablehloRaggedDot, IsComputedAtOnceAndDifferentiated) {
  const auto module = ab::stablehlo::parse(R"(
func.func @main(%x: tensor<3x1xf32>, %y: tensor<2x1x1xf32>, %g: tensor<2xi32>) -> tensor<f32> {
  %0 = "chlo.ragged_dot"(%x, %y, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x1xf32>, tensor<2x1x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
)");
  const ab::stablehlo::Function function = module.function("main");
  const ab::Array x = ab::reshape(ab::array({1.0f, 2.0f, 4.0f}), {3, 1});
  const ab::Array y = ab::reshape(ab::array({10.0f, 100.0f}), {2, 1, 1});
  const ab::Array groups = ab::array({1, 1});
  EXPECT_EQ(function({x, y, groups})[0].item<float>(), 210);
  const ab::Array slope = ab::grad([&](ab::Array of) { return function({x, of, groups})[0]; })(y);
  EXPECT_EQ(ab::reshape(slope, {2}).to_vector<float>(), (std::vector<float>{1, 2}));
}

}  // namespace
