// Dense constants, by their values.
#include <gtest/gtest.h>

#include "frontend/stablehlo/writer.h"
#include "tests/frontend/stablehlo/run_text.h"

namespace {

using anabranch::testing::problems_of;

TEST(StablehloConstants, ListsSplatsAndBlobs) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<[[1, -2, 3], [4, 5, 0x10]]> : tensor<2x3xi16>
  %1 = stablehlo.constant dense<"0x0100FEFF0300040005001000"> : tensor<2x3xi16>
  check.expect_eq %0, %1 : tensor<2x3xi16>
  %2 = stablehlo.constant dense<7> : tensor<4xui8>
  %3 = stablehlo.constant dense<"0x07"> : tensor<4xui8>
  check.expect_eq %2, %3 : tensor<4xui8>
  %4 = stablehlo.constant dense<255> : tensor<2xi8>
  check.expect_eq_const %4, dense<-1> : tensor<2xi8>
  %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %6 = stablehlo.constant dense<"0x05"> : tensor<3xi1>
  %7 = stablehlo.constant dense<"0x01000F"> : tensor<3xi1>
  check.expect_eq %5, %6 : tensor<3xi1>
  check.expect_eq %5, %7 : tensor<3xi1>
  %8 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  check.expect_eq_const %8, dense<0xFFFFFFFFFFFFFFFF> : tensor<ui64>)"),
            "");
}

TEST(StablehloConstants, FloatsAsDecimalsAndBits) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<[1.5, -2.0e+00, 0x7F800000, 0xFFC00000, 1.0E-45]> : tensor<5xf32>
  check.expect_eq_const %0, dense<"0x0000C03F000000C00000807F0000C0FF01000000"> : tensor<5xf32>
  %1 = stablehlo.constant dense<[0x3C00, 1.0e+10]> : tensor<2xf16>
  check.expect_eq_const %1, dense<[1.0, 0x7C00]> : tensor<2xf16>
  %2 = stablehlo.constant dense<0x3F80> : tensor<2xbf16>
  check.expect_eq_const %2, dense<1.0> : tensor<2xbf16>
  %3 = stablehlo.constant dense<1.0e+400> : tensor<f64>
  check.expect_eq_const %3, dense<0x7FF0000000000000> : tensor<f64>)"),
            "");
}

TEST(StablehloConstants, DecimalsOutOfRange) {
  const std::string zeros(400, '0');
  EXPECT_EQ(
      problems_of("%0 = stablehlo.constant dense<[0." + zeros + "1, -0." + zeros + "1e+10, 1" +
                  zeros + ".0e-10, -1" + zeros + ".0, 1.0e-99999999999999999999, " +
                  "1.0e+99999999999999999999, 12.5e-500]> : tensor<7xf64>\n"
                  "%1 = stablehlo.constant dense<[0.0, -0.0, 0x7FF0000000000000, "
                  "0xFFF0000000000000, 0.0, 0x7FF0000000000000, 0.0]> : tensor<7xf64>\n"
                  "check.expect_eq %0, %1 : tensor<7xf64>"),
      "");
}

TEST(StablehloConstants, Empty) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<> : tensor<0x4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<0x4xf32>
  %2 = stablehlo.constant dense<[]> : tensor<0xf32>
  check.expect_eq %0, %1 : tensor<0x4xf32>
  check.expect_eq_const %2, dense<> : tensor<0xf32>)"),
            "");
}

TEST(StablehloConstants, Resources) {
  EXPECT_EQ(anabranch::testing::problems(R"(
func.func @main() {
  %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense_resource<"w/0"> : tensor<1xi32>
  check.expect_eq_const %1, dense<7> : tensor<1xi32>
  return
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000100000002000000",
      "w/0": "0x0400000007000000"
    }
  },
  external_resources: {
    mlir_reproducer: {
      verify_each: true,
      disable_threading: false
    }
  }
#-}
)"),
            "");
}

// A splat takes no more memory than its text, however many elements it claims.
TEST(StablehloConstants, SplatsAreNotWrittenOut) {
  const auto graph = anabranch::stablehlo::parse(
                         "func.func @main() -> tensor<1000000x1000000xf32> {\n"
                         "%0 = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>\n"
                         "return %0 : tensor<1000000x1000000xf32>\n}")
                         .function("main")
                         .graph();
  EXPECT_EQ(graph.output_type(0).size(), 1'000'000'000'000);
}

}  // namespace
