// Orders of floats and of complex numbers, and the bits of elements.
#include <gtest/gtest.h>

#include "tests/frontend/stablehlo/run_text.h"

namespace {

using anabranch::testing::error_of;
using anabranch::testing::problems_of;

TEST(StablehloElements, ComplexNumbersAreInLexicographicOrder) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[(1.5, 2.5), (1.5, 7.5)]> : tensor<2xcomplex<f64>>
  %y = stablehlo.constant dense<[(7.5, 1.5), (1.5, 2.5)]> : tensor<2xcomplex<f64>>
  %0 = stablehlo.maximum %x, %y : tensor<2xcomplex<f64>>
  check.expect_eq_const %0, dense<[(7.5, 1.5), (1.5, 7.5)]> : tensor<2xcomplex<f64>>
  %1 = stablehlo.minimum %x, %y : tensor<2xcomplex<f64>>
  check.expect_eq_const %1, dense<(1.5, 2.5)> : tensor<2xcomplex<f64>>
  %2 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2xi1>
  check.expect_eq_const %2, dense<[true, false]> : tensor<2xi1>
  %3 = stablehlo.compare GE, %x, %x, FLOAT : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2xi1>
  check.expect_eq_const %3, dense<true> : tensor<2xi1>
  %4 = chlo.broadcast_maximum %x, %y : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
  check.expect_eq_const %4, dense<[(7.5, 1.5), (1.5, 7.5)]> : tensor<2xcomplex<f64>>
  %5 = "chlo.broadcast_compare"(%x, %y) <{comparison_direction = #chlo<comparison_direction GT>}> : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2xi1>
  check.expect_eq_const %5, dense<[false, true]> : tensor<2xi1>)"),
            "");
}

TEST(StablehloElements, BodiesOrderComplexNumbers) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[(1.5, 2.5), (1.5, 7.5)]> : tensor<2xcomplex<f64>>
  %y = stablehlo.constant dense<[(7.5, 1.5), (1.5, 2.5)]> : tensor<2xcomplex<f64>>
  %low = stablehlo.constant dense<(-9.0, 0.0)> : tensor<complex<f64>>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  check.expect_eq_const %0, dense<(1.5, 7.5)> : tensor<complex<f64>>
  %1 = "stablehlo.reduce_window"(%y, %low) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %4 = stablehlo.maximum %a, %b : tensor<complex<f64>>
    stablehlo.return %4 : tensor<complex<f64>>
  }) : (tensor<2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<1xcomplex<f64>>
  check.expect_eq_const %1, dense<(7.5, 1.5)> : tensor<1xcomplex<f64>>
  %i = stablehlo.constant dense<1> : tensor<2x1xi32>
  %2 = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %4 = stablehlo.minimum %a, %b : tensor<complex<f64>>
    stablehlo.return %4 : tensor<complex<f64>>
  }) : (tensor<2xcomplex<f64>>, tensor<2x1xi32>, tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
  check.expect_eq_const %2, dense<(1.5, 2.5)> : tensor<2xcomplex<f64>>
  %z = stablehlo.constant dense<[(2.0, 1.0), (1.0, 5.0), (2.0, -1.0), (1.0, 3.0)]> : tensor<4xcomplex<f64>>
  %3 = "stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %4 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_eq_const %3, dense<[(1.0, 3.0), (1.0, 5.0), (2.0, -1.0), (2.0, 1.0)]> : tensor<4xcomplex<f64>>)"),
            "");
}

TEST(StablehloElements, AnglesAndCubeRootsOfComplexNumbers) {
  EXPECT_EQ(problems_of(R"(
  %y = stablehlo.constant dense<[(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %x = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]> : tensor<3xcomplex<f32>>
  %0 = stablehlo.atan2 %y, %x : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<[(0.78539816, 0.0), (0.0, 0.54930614), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %z = stablehlo.constant dense<[(-8.0, 0.0), (0.0, 27.0), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %1 = stablehlo.cbrt %z : tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %1, dense<[(1.0, 1.7320508), (2.5980762, 1.5), (0.0, 0.0)]> : tensor<3xcomplex<f32>>)"),
            "");
}

TEST(StablehloElements, WeakAndTotalOrder) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, 0xFFC00000, -0.0, 0.0, 0x7F800000, -1.0]> : tensor<7xf32>
  %y = stablehlo.constant dense<[0xFFC00000, 0x7F800000, 0xFF800000, 0.0, -0.0, 0x7FC00000, 1.0]> : tensor<7xf32>
  %0 = stablehlo.compare EQ, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %0, dense<[true, false, false, true, true, false, false]> : tensor<7xi1>
  %1 = stablehlo.compare LT, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %1, dense<[false, false, false, false, false, true, true]> : tensor<7xi1>
  %2 = stablehlo.compare GT, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %2, dense<[false, true, true, false, false, false, false]> : tensor<7xi1>
  %3 = "chlo.broadcast_compare"(%x, %y) <{compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction LT>}> : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %3, dense<[false, true, true, true, false, true, true]> : tensor<7xi1>)"),
            "");
  EXPECT_NE(error_of("func.func @main(%x: tensor<2xf32>) {\n  %0 = stablehlo.compare LT, %x, %x, "
                     "NOORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>\n  return\n}\n")
                .find("there is no comparison type NOORDER; FLOAT, TOTALORDER"),
            std::string::npos);
}

TEST(StablehloElements, LogicOfBoolsByTheNamesOfNumbers) {
  EXPECT_EQ(problems_of(R"(
  %p = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %q = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.subtract %p, %q : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, false]> : tensor<4xi1>
  %1 = chlo.broadcast_maximum %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  check.expect_eq_const %1, dense<[false, true, true, true]> : tensor<4xi1>
  %2 = chlo.broadcast_minimum %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  check.expect_eq_const %2, dense<[false, false, false, true]> : tensor<4xi1>)"),
            "");
}

TEST(StablehloElements, BitsOfComplexNumbers) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<(0x0123456789ABCDEF, 0x0000000011111111)> : tensor<complex<f64>>
  %1 = "stablehlo.bitcast_convert"(%0) : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %1, dense<[(0x89ABCDEF, 0x01234567), (0x11111111, 0x00000000)]> : tensor<2xcomplex<f32>>
  %2 = stablehlo.bitcast_convert %1 : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>
  check.expect_eq %2, %0 : tensor<complex<f64>>)"),
            "");
}

TEST(StablehloElements, ABoolIsOneBit) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<[true, false, true, false, false, false, false, false]> : tensor<8xi1>
  %1 = stablehlo.bitcast_convert %0 : (tensor<8xi1>) -> tensor<ui8>
  check.expect_eq_const %1, dense<5> : tensor<ui8>
  %2 = stablehlo.bitcast_convert %1 : (tensor<ui8>) -> tensor<8xi1>
  check.expect_eq %2, %0 : tensor<8xi1>
  %3 = stablehlo.constant dense<true> : tensor<64xi1>
  %4 = stablehlo.bitcast_convert %3 : (tensor<64xi1>) -> tensor<i64>
  check.expect_eq_const %4, dense<-1> : tensor<i64>
  %5 = stablehlo.constant dense<[-2.5, 1.0e300]> : tensor<2xf64>
  %6 = stablehlo.bitcast_convert %5 : (tensor<2xf64>) -> tensor<2x64xi1>
  %7 = stablehlo.slice %6 [0:2, 63:64] : (tensor<2x64xi1>) -> tensor<2x1xi1>
  check.expect_eq_const %7, dense<[[true], [false]]> : tensor<2x1xi1>
  %8 = stablehlo.bitcast_convert %6 : (tensor<2x64xi1>) -> tensor<2xf64>
  check.expect_eq %8, %5 : tensor<2xf64>)"),
            "");
  const auto error_between = [](const std::string& from, const std::string& to) {
    return error_of("func.func @main(%x: " + from + ") {\n  %0 = stablehlo.bitcast_convert %x : (" +
                    from + ") -> " + to + "\n  return\n}\n");
  };
  EXPECT_EQ(error_between("tensor<3xi1>", "tensor<3xi1>"), "");
  EXPECT_NE(error_between("tensor<3xi1>", "tensor<3xi8>").find("the 8 parts of an element"),
            std::string::npos);
  EXPECT_NE(error_between("tensor<3xi8>", "tensor<3xi1>").find("the text states tensor<3xi1>"),
            std::string::npos);
  EXPECT_NE(error_between("tensor<3xcomplex<f32>>", "tensor<complex<f64>>")
                .find("the 2 parts of an element"),
            std::string::npos);
  EXPECT_NE(error_between("tensor<3xcomplex<f32>>", "tensor<3xf64>").find("no other's bits"),
            std::string::npos);
}

}  // namespace
