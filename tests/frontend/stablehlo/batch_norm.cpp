// Batch normalization.
#include <gtest/gtest.h>

#include "tests/frontend/stablehlo/run_text.h"

namespace {

using anabranch::testing::error_of;
using anabranch::testing::problems_of;

TEST(StablehloBatchNorm, Inference) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %s = stablehlo.constant dense<1.0> : tensor<2xf64>
  %m = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %m, %s) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2x2xf64>
  check.expect_eq_const %0, dense<[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf64>
  %offset = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf64>
  %v = stablehlo.constant dense<[3.0, 24.0]> : tensor<2xf64>
  %1 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %m, %v) <{epsilon = 1.0 : f32, feature_index = 1 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2x2xf64>
  check.expect_eq_const %1, dense<[[[8.5, 10.0], [20.0, 21.0]], [[11.5, 13.0], [18.0, 19.0]]]> : tensor<2x2x2xf64>)"),
            "");
}

TEST(StablehloBatchNorm, Training) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %s = stablehlo.constant dense<1.0> : tensor<2xf64>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_eq_const %0#0, dense<[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>
  check.expect_eq_const %0#1, dense<[2.0, 3.0]> : tensor<2xf64>
  check.expect_eq_const %0#2, dense<1.0> : tensor<2xf64>)"),
            "");
}

TEST(StablehloBatchNorm, Gradient) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[3.0, 1.0]> : tensor<2xf64>
  %m = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %v = stablehlo.constant dense<1.0> : tensor<2xf64>
  %g = stablehlo.constant dense<[[[4.0, 0.1], [0.0, 0.1]], [[0.0, 0.1], [0.0, 0.1]]]> : tensor<2x2x2xf64>
  %0:3 = "stablehlo.batch_norm_grad"(%x, %scale, %m, %v, %g) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %0#0, dense<[[[6.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [-6.0, 0.0]]]> : tensor<2x2x2xf64>
  check.expect_almost_eq_const %0#1, dense<[-4.0, 0.0]> : tensor<2xf64>
  check.expect_almost_eq_const %0#2, dense<[4.0, 0.4]> : tensor<2xf64>)"),
            "");
}

// Adding threes up to 900 is exact in f32, and not in bf16.
TEST(StablehloBatchNorm, OfBf16IsComputedInF32) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<3.0> : tensor<300x1xbf16>
  %s = stablehlo.constant dense<2.0> : tensor<1xbf16>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<300x1xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> (tensor<300x1xbf16>, tensor<1xbf16>, tensor<1xbf16>)
  check.expect_eq_const %0#0, dense<2.0> : tensor<300x1xbf16>
  check.expect_eq_const %0#1, dense<3.0> : tensor<1xbf16>
  check.expect_eq_const %0#2, dense<0.0> : tensor<1xbf16>)"),
            "");
}

// A mean of nothing is NaN; where all axes are the features' each element is its own mean.
TEST(StablehloBatchNorm, OfNothingAndOfOneAxis) {
  EXPECT_EQ(problems_of(R"(
  %s = stablehlo.constant dense<1.0> : tensor<2xf32>
  %x = stablehlo.constant dense<> : tensor<0x2xf32>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %0#1, dense<0x7FC00000> : tensor<2xf32>
  %1:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<0x2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %1#1, dense<0.0> : tensor<2xf32>
  %none = stablehlo.constant dense<> : tensor<0xf32>
  %y = stablehlo.constant dense<> : tensor<2x0xf32>
  %2 = "stablehlo.batch_norm_inference"(%y, %none, %none, %none, %none) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>) -> tensor<2x0xf32>
  check.expect_eq_const %2, dense<> : tensor<2x0xf32>
  %z = stablehlo.constant dense<[5.0, 7.0]> : tensor<2xf32>
  %3:3 = "stablehlo.batch_norm_training"(%z, %s, %s) {epsilon = 1.0 : f32, feature_index = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %3#0, dense<1.0> : tensor<2xf32>
  check.expect_eq_const %3#1, dense<[5.0, 7.0]> : tensor<2xf32>)"),
            "");
}

TEST(StablehloBatchNorm, SaysWhatDoesNotFit) {
  const auto error_with = [](const std::string& vector, int axis) {
    return error_of("func.func @main(%x: tensor<3x2xf32>, %s: " + vector +
                    ") {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %s) {epsilon = 0.0 : "
                    "f32, feature_index = " +
                    std::to_string(axis) + " : i64} : (tensor<3x2xf32>, " + vector + ", " + vector +
                    ") -> (tensor<3x2xf32>, " + vector + ", " + vector + ")\n  return\n}\n");
  };
  EXPECT_EQ(error_with("tensor<2xf32>", 1), "");
  EXPECT_NE(error_with("tensor<2xf32>", 2).find("its feature_index, 2, is no axis"),
            std::string::npos);
  EXPECT_NE(error_with("tensor<3xf32>", 1)
                .find("stablehlo.batch_norm_training: operand 1 is tensor<3xf32>, and has to be "
                      "tensor<2xf32>"),
            std::string::npos);
}

}  // namespace
