// Text that is broken in any way is an Error, and nothing worse.
#include <gtest/gtest.h>

#include "tests/frontend/stablehlo/run_text.h"
#include "tests/support/random_literal.h"

namespace {

constexpr const char* seeds[] = {
    R"(module @m attributes {a.b = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {x = "y"}, %i: tensor<i32>) -> (tensor<2xf32>) {
    %c = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 0x7FC00000]]> : tensor<2x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.add %arg0, %c : tensor<2x3xf32> loc("here")
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2:2 = stablehlo.while(%a = %i, %b = %1) : tensor<i32>, tensor<2xf32> cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %a, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.constant dense<1> : tensor<i32>
      %s = stablehlo.add %a, %n : tensor<i32>
      stablehlo.return %s, %b : tensor<i32>, tensor<2xf32>
    }
    return %2#1 : tensor<2xf32>
  }
})",
    R"(func.func @main(%x: tensor<1x4x4x1xf32>, %w: tensor<2x2x1x1xf32>, %j: tensor<2xi32>) -> tensor<1x3x3x1xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32>
  %1 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0, 3], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 2, 2, 1>}> : (tensor<1x4x4x1xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %2 = stablehlo.slice %0 [0:1, 0:3:2, 1:2, 0:1] : (tensor<1x3x3x1xf32>) -> tensor<1x2x1x1xf32>
  %3 = "stablehlo.case"(%i) ({ stablehlo.return %0 : tensor<1x3x3x1xf32> }) : (tensor<i32>) -> tensor<1x3x3x1xf32>
  return %0 : tensor<1x3x3x1xf32>
})",
    R"(sdy.mesh @m = <["a"=1, "b"=2]>
func.func @main(%x: tensor<4x2xf32>, %w: tensor<3x2x1xf32>, %g: tensor<3xi32>) -> tensor<4x1xf32> {
  %0 = sdy.manual_computation(%x, %w) in_shardings=[<@m, [{"a", ?}, {}]>, <@m, [{}, {}, {}]>] out_shardings=[<@m, [{"b"}, {}], replicated={"a"}>] manual_axes={"a"} (%p: tensor<4x2xf32>, %q: tensor<3x2x1xf32>) {
    sdy.return %p : tensor<4x2xf32>
  } {n = 1 : i64} : (tensor<4x2xf32>, tensor<3x2x1xf32>) -> tensor<4x2xf32>
  %1 = "chlo.ragged_dot"(%0, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<3x2x1xf32>, tensor<3xi32>) -> tensor<4x1xf32>
  %2 = "chlo.ragged_dot"(%0, %0, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<3xi32>) -> tensor<3x2x2xf32>
  return %1 : tensor<4x1xf32>
})"};

TEST(StablehloMutations, AreErrors) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    anabranch::Random random(seed);
    std::string text = random.of(seeds);
    for (std::int64_t i = random.below(4); i >= 0; --i) {
      const auto at =
          static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())));
      const auto count = static_cast<std::size_t>(random.below(12));
      const auto from =
          static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())));
      switch (random.below(4)) {
        case 0:
          text.erase(at, count);
          break;
        case 1:
          text[at] = "()[]{}<>\"%#@!:=,-0x9f\n"[random.below(23)];
          break;
        case 2:
          text.insert(at, text.substr(from, count));
          break;
        default:
          text.resize(at);
      }
      if (text.empty()) text = " ";
    }
    // Throws InternalError, or ends the process, where something is not looked at.
    EXPECT_NO_THROW(anabranch::testing::error_of(text)) << text;
  }
}

}  // namespace
