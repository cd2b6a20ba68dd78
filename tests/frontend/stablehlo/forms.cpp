// The forms that operations are written in.
#include <gtest/gtest.h>

#include "frontend/stablehlo/importer.h"
#include "tests/frontend/stablehlo/run_text.h"

namespace {

using anabranch::Graph;
using anabranch::testing::problems;
using anabranch::testing::problems_of;

// Of @main.
Graph graph_of(const std::string& text) {
  return anabranch::stablehlo::parse(text, "test.mlir").function("main").graph();
}

TEST(StablehloForms, ModulesFunctionsAndComments) {
  EXPECT_EQ(problems(R"(
// a comment
#loc = loc("model.py":1:0)
#unused = affine_map<(d0) -> (d0)>
!matrix = tensor<2x2xf32>
module @"a name" attributes {mhlo.num_partitions = 1 : i32, jax.uses = [1, "two", @three]} {
  func.func public @main() -> (!matrix {jax.result_info = "result[0]"}) {
    %0 = stablehlo.constant dense<1.0> : !matrix loc(#loc)
    %1 = call @twice(%0) : (!matrix) -> !matrix loc(callsite("a" at "b"))  // another
    check.expect_eq_const %1, dense<2.0> : tensor<2x2xf32>
    return %1 : !matrix
  } loc(#loc)
  func.func private @twice(%arg0: !matrix {mhlo.sharding = "{replicated}"} loc("x")) -> !matrix attributes {a = 1} {
    %0 = "stablehlo.add"(%arg0, %arg0) {no = unit} : (!matrix, !matrix) -> !matrix
    func.return %0 : !matrix loc(unknown)
  }
}
#loc3 = loc("late")
)"),
            "");
}

TEST(StablehloForms, GenericModule) {
  EXPECT_EQ(problems(R"(
"builtin.module"() <{sym_name = "jit"}> ({
  "func.func"() <{function_type = () -> tensor<2xi32>, sym_name = "main", sym_visibility = "public"}> ({
    %0:2 = "func.call"() <{callee = @inputs}> : () -> (tensor<2xi32>, tensor<2xi32>)
    %1 = "stablehlo.subtract"(%0#1, %0#0) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    "check.expect_eq_const"(%1) <{value = dense<[4, 5]> : tensor<2xi32>}> : (tensor<2xi32>) -> ()
    "func.return"(%1) : (tensor<2xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2xi32>, tensor<2xi32>), sym_name = "inputs", sym_visibility = "private"}> ({
  ^bb0:
    %0 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %1 = "stablehlo.constant"() <{value = dense<[5, 7]> : tensor<2xi32>}> : () -> tensor<2xi32>
    "func.return"(%0, %1) : (tensor<2xi32>, tensor<2xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_replicas = 1 : i32} : () -> ()
)"),
            "");
}

// Each pair gives one graph.
TEST(StablehloForms, PrettyAndGenericGiveTheSame) {
  struct Pair {
    const char *arguments, *pretty, *generic;
  };
  const Pair pairs[] =
      {
          {"%a: tensor<2x3xf32>",
           "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
           R"(%0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>)"},
          {"%a: tensor<3xf32>",
           "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>",
           R"(%0 = "stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<3xf32>) -> tensor<2x3xf32>)"},
          {"%a: tensor<3xf32>",
           "%0 = stablehlo.broadcast %a, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>",
           R"(%0 = "stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 2>} : (tensor<3xf32>) -> tensor<2x3xf32>)"},
          {"%a: tensor<4x6xf32>",
           "%0 = stablehlo.slice %a [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>",
           R"(%0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 3, 6>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<2x3xf32>)"},
          {"%a: tensor<2x3xf32>", "%0 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>",
           R"(%0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
          {"%a: tensor<3xi32>, %b: tensor<i32>",
           "%0 = stablehlo.pad %a, %b, low = [1], high = [-1], interior = [2] : (tensor<3xi32>, "
           "tensor<i32>) -> tensor<7xi32>",
           R"(%0 = "stablehlo.pad"(%a, %b) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, interior_padding = array<i64: 2>}> : (tensor<3xi32>, tensor<i32>) -> tensor<7xi32>)"},
          {"%a: tensor<2xf32>, %b: tensor<3xf32>",
           "%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> "
           "tensor<5xf32>",
           R"(%0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>)"},
          {"%a: tensor<4xf32>, %i: tensor<i32>",
           "%0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> "
           "tensor<2xf32>",
           R"(%0 = "stablehlo.dynamic_slice"(%a, %i) <{slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>)"},
          {"%a: tensor<4xf32>, %b: tensor<4xf32>",
           "%0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> "
           "tensor<4xi1>",
           R"(%0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)"},
          {"%a: tensor<i1>, %b: tensor<4xf32>",
           "%0 = stablehlo.select %a, %b, %b : tensor<i1>, tensor<4xf32>",
           R"(%0 = "stablehlo.select"(%a, %b, %b) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
          {"%a: tensor<4xf32>, %b: tensor<f32>",
           "%0 = stablehlo.clamp %b, %a, %b : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> "
           "tensor<4xf32>",
           R"(%0 = "stablehlo.clamp"(%b, %a, %b) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>)"},
          {"%a: tensor<2x3xf32>, %b: tensor<3x4xf32>",
           "%0 = stablehlo.dot %a, %b, precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, "
           "tensor<3x4xf32>) -> tensor<2x4xf32>",
           R"(%0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>)"},
          {"%a: tensor<5x2x3xf32>, %b: tensor<3x5x4xf32>",
           "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x "
           "[0], precision = [DEFAULT, DEFAULT] : (tensor<5x2x3xf32>, tensor<3x5x4xf32>) -> "
           "tensor<5x2x4xf32>",
           R"(%0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>} : (tensor<5x2x3xf32>, tensor<3x5x4xf32>) -> tensor<5x2x4xf32>)"},
          {"%a: tensor<1x8x8x2xf32>, %b: tensor<3x3x2x4xf32>",
           "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
           "f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], rhs_dilate = [1, 2], reverse = "
           "[true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
           "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : "
           "(tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x6x4xf32>",
           R"(%0 = "stablehlo.convolution"(%a, %b) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2, 1>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: true, false>}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x6x4xf32>)"},
          {"%a: tensor<2x3xf32>, %c: tensor<f32>",
           "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : "
           "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
           R"(%0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 1>}> ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %m = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%m) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>)"},
          {"%a: tensor<2x3xf32>, %c: tensor<f32>",
           R"(%0 = stablehlo.reduce(%a init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
          reducer(%x: tensor<f32>, %y: tensor<f32>) {
            %m = stablehlo.maximum %y, %x : tensor<f32>
            stablehlo.return %m : tensor<f32>
          })",
           "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : "
           "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"},
          {"%a: tensor<4xf32>", "%0 = stablehlo.add %a, %a : tensor<4xf32>",
           "%0 = stablehlo.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"},
          {"%a: tensor<4xf32>",
           "%0 = chlo.broadcast_add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
           "%0 = mhlo.add %a, %a : tensor<4xf32>"},
          {"%a: tensor<4xf32>", "%0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>",
           R"(%0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>)"},
      };
  for (const Pair& pair : pairs) {
    const auto function = [&](const char* op) {
      const std::string text = op;
      std::string type = text.substr(text.rfind("-> ") == text.npos ? 0 : text.rfind("-> ") + 3);
      if (text.find("reducer") != text.npos) type = "tensor<2xf32>";
      if (text.rfind("-> ") == text.npos) type = text.substr(text.rfind("tensor"));
      return "func.func @main(" + std::string(pair.arguments) + ") -> " + type + " {\n" + text +
             "\nreturn %0 : " + type + "\n}\n";
    };
    try {
      EXPECT_EQ(graph_of(function(pair.pretty)), graph_of(function(pair.generic)))
          << pair.pretty << "\n"
          << graph_of(function(pair.pretty)) << graph_of(function(pair.generic));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << function(pair.pretty) << function(pair.generic);
    }
  }
}

TEST(StablehloForms, SeveralResults) {
  EXPECT_EQ(problems(R"(
func.func private @three() -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}
func.func @main() {
  %0:3 = call @three() : () -> (tensor<i32>, tensor<i32>, tensor<i32>)
  %a, %b:2 = func.call @three() : () -> (tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#2, dense<3> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  check.expect_eq %0#1, %b#0 : tensor<i32>
  check.expect_eq %a, %0#0 : tensor<i32>
  return
})"),
            "");
}

TEST(StablehloForms, TuplesTokensAndBarriers) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<i32>, tensor<2xi32>>
  %2 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<2xi32>
  %3 = "stablehlo.get_tuple_element"(%t) <{index = 0 : i32}> : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<i32>
  %k = stablehlo.create_token : !stablehlo.token
  %l = stablehlo.after_all %k, %k : !stablehlo.token
  %4:2 = stablehlo.optimization_barrier %2, %3 : tensor<2xi32>, tensor<i32>
  check.expect_eq_const %4#0, dense<[2, 3]> : tensor<2xi32>
  check.expect_eq_const %4#1, dense<1> : tensor<i32>)"),
            "");
}

TEST(StablehloForms, TokensThroughLoopsAndBranches) {
  EXPECT_EQ(problems_of(R"(
  %t = stablehlo.create_token : !stablehlo.token
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%k = %t, %i = %c) : !stablehlo.token, tensor<i32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    stablehlo.return %k, %j : !stablehlo.token, tensor<i32>
  }
  check.expect_eq_const %0#1, dense<3> : tensor<i32>
  %1:3 = "stablehlo.case"(%c) ({
    stablehlo.return %c, %t, %0#1 : tensor<i32>, !stablehlo.token, tensor<i32>
  }) : (tensor<i32>) -> (tensor<i32>, !stablehlo.token, tensor<i32>)
  %2 = stablehlo.after_all %1#1, %0#0 : !stablehlo.token
  check.expect_eq_const %1#2, dense<3> : tensor<i32>)"),
            "");
}

TEST(StablehloForms, ConvolutionOfDynamicPadding) {
  EXPECT_EQ(problems_of(R"(
  %l = stablehlo.constant dense<[[[[1],[2],[5],[6]],[[3],[4],[7],[8]],[[10],[11],[14],[15]],[[12],[13],[16],[17]]]]> : tensor<1x4x4x1xi64>
  %r = stablehlo.constant dense<1> : tensor<3x3x1x1xi64>
  %p = stablehlo.constant dense<0> : tensor<2x2xi64>
  %0 = stablehlo.dynamic_conv(%l, %r, %p) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>, tensor<2x2xi64>) -> tensor<1x2x2x1xi64>
  check.expect_eq_const %0, dense<[[[[10],[26]],[[46],[62]]]]> : tensor<1x2x2x1xi64>)"),
            "");
}

TEST(StablehloForms, PartsOfAFile) {
  const auto parts = anabranch::stablehlo::split("a\n// ---------- b\n// -----  \nc\n");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].text, "a\n// ---------- b\n");
  EXPECT_EQ(parts[1].text, "c\n");
  EXPECT_EQ(parts[1].first_line, 4u);
}

TEST(StablehloForms, CompositesByTheirDecomposition) {
  EXPECT_EQ(problems(R"(
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.composite "my.double" %0 {composite_attributes = {n = 1 : i64}, decomposition = @double, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "stablehlo.composite"(%1) <{name = "my.double", decomposition = @double}> : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %2, dense<[4.0, 8.0]> : tensor<2xf32>
  return
})"),
            "");
}

TEST(StablehloForms, LinesAreThoseOfTheText) {
  const Graph graph = graph_of(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n"
      "  return %0 : tensor<2xf32>\n}\n");
  EXPECT_NE(to_string(graph).find("# test.mlir:2"), std::string::npos) << graph;
}

}  // namespace
