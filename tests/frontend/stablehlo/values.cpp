// What operations mean, where it takes more than one of ours.
#include <anabranch/anabranch.h>
#include <gtest/gtest.h>

#include "tests/frontend/stablehlo/run_text.h"

namespace {

namespace ab = anabranch;
using ab::testing::problems;
using ab::testing::problems_of;

TEST(StablehloValues, ReduceWithAnInitialValue) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[16, 25]> : tensor<2xi32>
  %1 = stablehlo.reduce(%x init: %ten) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %1, dense<10> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %3, dense<21> : tensor<i32>
  %2 = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[11, 12, 13], [14, 15, 16]]> : tensor<2x3xi32>)"),
            "");
}

TEST(StablehloValues, ReduceOfSeveralWithABody) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[3.0, 7.0, 7.0, 1.0]> : tensor<4xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
    %1 = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare  EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.compare  LT, %j, %k,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.and %2, %3 : tensor<i1>
    %5 = stablehlo.or %1, %4 : tensor<i1>
    %6 = stablehlo.select %5, %a, %b : tensor<i1>, tensor<f32>
    %7 = stablehlo.select %5, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<7.0> : tensor<f32>
  check.expect_eq_const %0#1, dense<1> : tensor<i32>)"),
            "");
}

TEST(StablehloValues, ARunningSumOfOneElementKeepsItsSign) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[-0.0, 2.0]]> : tensor<1x2xf32>
  %zero = stablehlo.constant dense<-0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %2 = stablehlo.bitcast_convert %0 : (tensor<1x2xf32>) -> tensor<1x2xi32>
  check.expect_eq_const %2, dense<[[-2147483648, 1073741824]]> : tensor<1x2xi32>)"),
            "");
}

TEST(StablehloValues, ACollectiveOfOneDeviceGivesWhatItHas) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[1, 2]> : tensor<2xi32>
  %3 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %3, dense<[1, 2]> : tensor<2xi32>
  %4 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %4, dense<0> : tensor<2xi32>)"),
            "");
}

TEST(StablehloValues, ABodyMayUseConstantsAroundIt) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.maximum %b, %two : tensor<i32>
    %2 = stablehlo.maximum %a, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>)"),
            "");
}

TEST(StablehloValues, WindowsOfSeveralArrays) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.reduce_window"(%x, %y, %zero, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.add %a, %c : tensor<i32>
    %2 = stablehlo.add %b, %d : tensor<i32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<i32>
  }) : (tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[1, 5]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[5, 13]> : tensor<2xi32>)"),
            "");
}

TEST(StablehloValues, LoopsThatCaptureAndNest) {
  EXPECT_EQ(problems(R"(
func.func private @step(%x: tensor<2xf32>, %by: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %by : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %x0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %by = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %x0) : tensor<i32>, tensor<2xf32> attributes {a = 1}
   cond {
    %1 = stablehlo.compare  LT, %i, %three,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%1) ({
      %5 = stablehlo.negate %by : tensor<2xf32>
      stablehlo.return %5 : tensor<2xf32>
    }, {
      %5:2 = stablehlo.while(%j = %zero, %y = %by) : tensor<i32>, tensor<2xf32>
       cond {
        %6 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %6 : tensor<i1>
      } do {
        %6 = func.call @step(%y, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %7 = stablehlo.add %j, %one : tensor<i32>
        stablehlo.return %7, %6 : tensor<i32>, tensor<2xf32>
      }
      stablehlo.return %5#1 : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    %3 = func.call @step(%x, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %3 : tensor<i32>, tensor<2xf32>
  }
  check.expect_eq_const %0#1, dense<[4.0, 8.0]> : tensor<2xf32>
  return
})"),
            "");
}

TEST(StablehloValues, ScansWalkAnAxis) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[0, 10]> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits (%i) dimension=1  {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    %2 = stablehlo.negate %1 : tensor<2xi32>
    stablehlo.return %2, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[-1, -3, -6], [-14, -19, -25]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[6, 25]> : tensor<2xi32>
  %3:2 = chlo.scan(%x) inits (%i) dimension=1  attributes {is_associative = true, is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %3#0, dense<[[6, 5, 3], [25, 21, 16]]> : tensor<2x3xi32>
  %4 = "chlo.scan"(%x) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: tensor<3xi32>):
    stablehlo.return %a : tensor<3xi32>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq %4, %x : tensor<2x3xi32>)"),
            "");
}

TEST(StablehloValues, MapAppliesItsBodyToElements) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %a, %b : tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %1, %c : tensor<i32>
    %3 = stablehlo.multiply %2, %two : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[4, 10], [20, 34]]> : tensor<2x2xi32>)"),
            "");
}

TEST(StablehloValues, TotalOrder) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[0xFFC00000, 0xFF800000, -0.0, 0.0, 1.0, 0x7F800000]> : tensor<6xf32>
  %y = stablehlo.constant dense<[0xFF800000, -1.0, 0.0, 0.0, 0x7F800000, 0x7FC00000]> : tensor<6xf32>
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %0, dense<[true, true, true, false, true, true]> : tensor<6xi1>)"),
            "");
}

TEST(StablehloValues, UnsignedStartsOfSlices) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %far = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %0 = stablehlo.dynamic_slice %x, %far, sizes = [2] : (tensor<4xi32>, tensor<ui64>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<ui8>
  %u = stablehlo.constant dense<9> : tensor<1xi32>
  %1 = stablehlo.dynamic_update_slice %x, %u, %one : (tensor<4xi32>, tensor<1xi32>, tensor<ui8>) -> tensor<4xi32>
  check.expect_eq_const %1, dense<[1, 9, 3, 4]> : tensor<4xi32>)"),
            "");
}

TEST(StablehloValues, ChloFunctions) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1.0, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, false]> : tensor<4xi1>
  %1 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %1, dense<[false, true, false, false]> : tensor<4xi1>
  %a = stablehlo.constant dense<[1.0, 1.0, 0.0, 0.0, -1.0, 2.0]> : tensor<6xf32>
  %b = stablehlo.constant dense<[2.0, 0.0, 1.0, -1.0, 0.0, 2.0]> : tensor<6xf32>
  %2 = chlo.next_after %a, %b : tensor<6xf32>, tensor<6xf32> -> tensor<6xf32>
  check.expect_eq_const %2, dense<[0x3F800001, 0x3F7FFFFF, 0x00000001, 0x80000001, 0xBF7FFFFF, 2.0]> : tensor<6xf32>
  %c = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %d = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %3 = chlo.broadcast_multiply %c, %d : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %3, dense<[[10.0, 20.0], [20.0, 40.0]]> : tensor<2x2xf32>
  %4 = "chlo.broadcast_compare"(%c, %d) <{comparison_direction = #chlo<comparison_direction LT>}> : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xi1>
  check.expect_eq_const %4, dense<true> : tensor<2x2xi1>)"),
            "");
}

TEST(StablehloValues, MeshesOfDevicesAreReadOver) {
  EXPECT_EQ(problems(R"(module {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  sdy.mesh @mesh = <["x"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 1 : i64}]}} loc(unknown)
  sdy.mesh @plain = <["x"=1, "y"=1]>
  func.func @main() {
    %0 = stablehlo.constant dense<1> : tensor<2xi32>
    check.expect_eq_const %0, dense<1> : tensor<2xi32>
    func.return
  }
})"),
            "");
}

// Each axis that is divided by hand has one device, or is of no mesh here.
TEST(StablehloValues, ManualComputationsOfOneDevice) {
  EXPECT_EQ(problems(R"(module {
  sdy.mesh @mesh = <["x"=1, "y"=4]>
  func.func @main() {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %two = stablehlo.constant dense<2> : tensor<2xi32>
    %1:2 = sdy.manual_computation(%0, %two) in_shardings=[<@mesh, [{"x", ?}]>, <@mesh, [{"y":(1)2}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] manual_axes={"x"} (%a: tensor<2xi32>, %b: tensor<2xi32>) {
      %2 = stablehlo.multiply %a, %b : tensor<2xi32>
      %3 = stablehlo.add %2, %b : tensor<2xi32>
      check.expect_eq_const %2, dense<[2, 4]> : tensor<2xi32>
      sdy.return %2, %3 : tensor<2xi32>, tensor<2xi32>
    } {note = "none"} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    check.expect_eq_const %1#0, dense<[2, 4]> : tensor<2xi32>
    check.expect_eq_const %1#1, dense<[4, 6]> : tensor<2xi32>
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
      sdy.return
    } : () -> ()
    %4 = "sdy.manual_computation"(%0) <{in_shardings = #sdy.sharding_per_value<[<@elsewhere, [{"z"}]>]>, manual_axes = #sdy<manual_axes{"z"}>, out_shardings = #sdy.sharding_per_value<[<@elsewhere, [{"z"}]>]>}> ({
    ^bb0(%a: tensor<2xi32>):
      "sdy.return"(%a) : (tensor<2xi32>) -> ()
    }) : (tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %4, dense<[1, 2]> : tensor<2xi32>
    func.return
  }
})"),
            "");
}

TEST(StablehloValues, UpperHalvesOfProducts) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[2147483647, -2147483648, 65536, -1]> : tensor<4xi32>
  %0 = chlo.mulhi %a, %a : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  check.expect_eq_const %0, dense<[1073741823, 1073741824, 1, 0]> : tensor<4xi32>
  %b = stablehlo.constant dense<[255, 16, 3]> : tensor<3xui8>
  %1 = chlo.mulhi %b, %b : tensor<3xui8>, tensor<3xui8> -> tensor<3xui8>
  check.expect_eq_const %1, dense<[254, 1, 0]> : tensor<3xui8>
  %c = stablehlo.constant dense<[18446744073709551615, 6700417000000000000, 4294967296]> : tensor<3xui64>
  %2 = chlo.mulhi %c, %c : tensor<3xui64>, tensor<3xui64> -> tensor<3xui64>
  check.expect_eq_const %2, dense<[18446744073709551614, 2433794700815227005, 1]> : tensor<3xui64>
  %d = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807, -3]> : tensor<3xi64>
  %e = stablehlo.constant dense<[9223372036854775807, 9223372036854775807, 5]> : tensor<3xi64>
  %3 = chlo.mulhi %d, %e : tensor<3xi64>, tensor<3xi64> -> tensor<3xi64>
  check.expect_eq_const %3, dense<[-4611686018427387904, 4611686018427387903, -1]> : tensor<3xi64>)"),
            "");
}

TEST(StablehloValues, DynamicOpsOfStaticResults) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %a = stablehlo.constant dense<0> : tensor<1xi64>
  %b = stablehlo.constant dense<4> : tensor<1xi64>
  %c = stablehlo.constant dense<2> : tensor<1xi64>
  %1 = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<4xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 3]> : tensor<2xi32>)"),
            "");
}

TEST(StablehloValues, FftOfEachKind) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1.0, 3.0, 5.0, 7.0]> : tensor<4xf32>
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<[(16.0, 0.0), (-4.0, 4.0), (-4.0, 0.0)]> : tensor<3xcomplex<f32>>
  %1 = "stablehlo.fft"(%0) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 4>} : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_almost_eq_const %1, dense<[1.0, 3.0, 5.0, 7.0]> : tensor<4xf32>
  %2 = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  %3 = stablehlo.fft %2, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %4 = stablehlo.fft %3, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %5 = stablehlo.imag %4 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  check.expect_almost_eq_const %5, dense<[1.0, 3.0, 5.0, 7.0]> : tensor<4xf32>
)"),
            "");
}

TEST(StablehloValues, LinearAlgebraByLapacksNames) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf64>
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf64>
  check.expect_almost_eq_const %0, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf64>
  %1:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %1#0, dense<[[2.0, 2.0], [1.0, 2.0]]> : tensor<2x2xf64>
  check.expect_eq_const %1#1, dense<0> : tensor<i32>
  %b = stablehlo.constant dense<[[2.0], [5.0]]> : tensor<2x1xf64>
  %2 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %2, dense<[[1.0], [2.0]]> : tensor<2x1xf64>
  %3 = stablehlo.custom_call @lapack_dtrsm_ffi(%0, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %3, dense<[[-0.25], [2.5]]> : tensor<2x1xf64>
  %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %4#1, dense<[2.43844719, 6.56155281]> : tensor<2xf64>
  %5:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %5#1, dense<[6.56155281, 2.43844719]> : tensor<2xf64>
  %6:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)
  check.expect_eq_const %6#0, dense<[[4.0, 2.0], [0.5, 4.0]]> : tensor<2x2xf64>
  check.expect_eq_const %6#1, dense<[1, 2]> : tensor<2xi32>
  %7:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  %8 = stablehlo.custom_call @lapack_dorgqr_ffi(%7#0, %7#1) : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %9 = stablehlo.dot_general %8, %8, contracting_dims = [0] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %9, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>)"),
            "");
}

// The factor of a matrix of more rows than columns is R above zeros.
TEST(StablehloValues, ProductsWithReflectorsByLapacksNames) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]]> : tensor<3x2xf64>
  %h:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
  %0 = stablehlo.custom_call @lapack_dormqr_ffi(%h#0, %h#1, %a) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<3x2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq_const %0, dense<[[-5.0, -2.2], [0.0, -2.0396078], [0.0, 0.0]]> : tensor<3x2xf64>
  %1 = stablehlo.custom_call @lapack_dormqr_ffi(%h#0, %h#1, %0) {mhlo.backend_config = {left = true, transpose = false}} : (tensor<3x2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq %1, %a : tensor<3x2xf64>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf64>) -> tensor<2x3xf64>
  %2 = stablehlo.custom_call @lapack_dormqr_ffi(%h#0, %h#1, %t) {mhlo.backend_config = {left = false, transpose = false}} : (tensor<3x2xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %2, dense<[[-5.0, 0.0, 0.0], [-2.2, -2.0396078, 0.0]]> : tensor<2x3xf64>
  %y = stablehlo.constant dense<[[[(1.0, 3.0)], [(0.0, 0.0)]], [[(0.0, 2.0)], [(5.0, 0.0)]]]> : tensor<2x2x1xcomplex<f32>>
  %g:2 = stablehlo.custom_call @lapack_cgeqrf_ffi(%y) : (tensor<2x2x1xcomplex<f32>>) -> (tensor<2x2x1xcomplex<f32>>, tensor<2x1xcomplex<f32>>)
  %3 = stablehlo.custom_call @lapack_cunmqr_ffi(%g#0, %g#1, %y) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<2x2x1xcomplex<f32>>, tensor<2x1xcomplex<f32>>, tensor<2x2x1xcomplex<f32>>) -> tensor<2x2x1xcomplex<f32>>
  %4 = stablehlo.custom_call @lapack_cunmqr_ffi(%g#0, %g#1, %3) {mhlo.backend_config = {left = true, transpose = false}} : (tensor<2x2x1xcomplex<f32>>, tensor<2x1xcomplex<f32>>, tensor<2x2x1xcomplex<f32>>) -> tensor<2x2x1xcomplex<f32>>
  check.expect_almost_eq %4, %y : tensor<2x2x1xcomplex<f32>>
  %wide = stablehlo.constant dense<[[3.0, 1.0, 2.0], [4.0, 2.0, 2.0]]> : tensor<2x3xf64>
  %w:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%wide) : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>)
  %5 = stablehlo.custom_call @lapack_dormqr_ffi(%w#0, %w#1, %wide) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %5, dense<[[-5.0, -2.2, -2.8], [0.0, 0.4, -0.4]]> : tensor<2x3xf64>
  %6:5 = stablehlo.custom_call @lapack_dgesvd_ffi(%wide) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x3xf64>, tensor<i32>)
  check.expect_almost_eq_const %6#1, dense<[6.1385293, 0.5643211]> : tensor<2xf64>
  check.expect_eq_const %6#4, dense<0> : tensor<i32>)"),
            "");
}

TEST(StablehloValues, EigenvaluesSystemsAndThinFactorsByLapacksNames) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[[0.0, -2.0], [2.0, 0.0]]> : tensor<2x2xf64>
  %0:5 = stablehlo.custom_call @lapack_dgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}} : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %0#0, dense<[0.0, 0.0]> : tensor<2xf64>
  check.expect_almost_eq_const %0#1, dense<[2.0, -2.0]> : tensor<2xf64>
  check.expect_eq_const %0#4, dense<0> : tensor<i32>
  %z = stablehlo.constant dense<[[(0.0, 3.0)]]> : tensor<1x1xcomplex<f32>>
  %1:4 = stablehlo.custom_call @lapack_cgeev_ffi(%z) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 78 : ui8}} : (tensor<1x1xcomplex<f32>>) -> (tensor<1xcomplex<f32>>, tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>, tensor<i32>)
  check.expect_almost_eq_const %1#0, dense<(0.0, 3.0)> : tensor<1xcomplex<f32>>
  %dl = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %du = stablehlo.constant dense<[1.0, 3.0, 0.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[[6.0], [20.0], [22.0]]> : tensor<3x1xf32>
  %2:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%dl, %d, %du, %b) {mhlo.backend_config = {}} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<i32>)
  check.expect_almost_eq_const %2#3, dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  check.expect_eq_const %2#4, dense<0> : tensor<i32>
  %w = stablehlo.constant dense<[[0.0, 3.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<2x3xf32>
  %3:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%w) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<i32>)
  check.expect_almost_eq_const %3#1, dense<[4.0, 3.0]> : tensor<2xf32>
  %4:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%w) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<3x3xf32>, tensor<i32>)
  check.expect_almost_eq_const %4#1, dense<[4.0, 3.0]> : tensor<2xf32>
  %h = stablehlo.constant dense<[[1.0, 0.0, 0.0], [3.0, 1.0, 0.0], [4.0, 0.0, 1.0]]> : tensor<3x3xf64>
  %h0:3 = stablehlo.custom_call @lapack_dgehrd_ffi(%h) {mhlo.backend_config = {high = 3 : i32, low = 1 : i32}} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %h0#1, dense<[1.6, 0.0]> : tensor<2xf64>
  %h1:5 = stablehlo.custom_call @lapack_dsytrd_ffi(%h) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %h1#1, dense<[1.0, 1.0, 1.0]> : tensor<3xf64>
  check.expect_almost_eq_const %h1#2, dense<[-5.0, 0.0]> : tensor<2xf64>
  %t = stablehlo.constant dense<[[2.0, 0.0], [3.0, 4.0]]> : tensor<2x2xbf16>
  %r = stablehlo.constant dense<[[2.0], [11.0]]> : tensor<2x1xbf16>
  %5 = "stablehlo.triangular_solve"(%t, %r) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xbf16>, tensor<2x1xbf16>) -> tensor<2x1xbf16>
  check.expect_eq_const %5, dense<[[1.0], [2.0]]> : tensor<2x1xbf16>
  %s = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf16>
  %6 = stablehlo.cholesky %s, lower = true : tensor<2x2xf16>
  check.expect_eq_const %6, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf16>
)"),
            "");
}

TEST(StablehloValues, SchurFormsAndPivotedFactorsByLapacksNames) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[[2.0, -8.0], [2.0, 2.0]]> : tensor<2x2xf64>
  %0:6 = stablehlo.custom_call @lapack_dgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>, tensor<i32>)
  %t = stablehlo.dot_general %0#1, %0#0, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %back = stablehlo.dot_general %t, %0#1, contracting_dims = [1] x [1] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %back, dense<[[2.0, -8.0], [2.0, 2.0]]> : tensor<2x2xf64>
  check.expect_almost_eq_const %0#2, dense<[2.0, 2.0]> : tensor<2xf64>
  check.expect_almost_eq_const %0#3, dense<[4.0, -4.0]> : tensor<2xf64>
  check.expect_eq_const %0#4, dense<0> : tensor<i32>
  check.expect_eq_const %0#5, dense<0> : tensor<i32>
  %z = stablehlo.constant dense<[[[(0.0, 3.0)]], [[(1.0, 0.0)]]]> : tensor<2x1x1xcomplex<f32>>
  %1:5 = stablehlo.custom_call @lapack_cgees_ffi(%z) {mhlo.backend_config = {mode = 78 : ui8, sort = 78 : ui8}} : (tensor<2x1x1xcomplex<f32>>) -> (tensor<2x1x1xcomplex<f32>>, tensor<2x1x1xcomplex<f32>>, tensor<2x1xcomplex<f32>>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %1#0, dense<[[[(0.0, 3.0)]], [[(1.0, 0.0)]]]> : tensor<2x1x1xcomplex<f32>>
  check.expect_eq_const %1#2, dense<[[(0.0, 3.0)], [(1.0, 0.0)]]> : tensor<2x1xcomplex<f32>>
  check.expect_eq_const %1#4, dense<0> : tensor<2xi32>
  %x = stablehlo.constant dense<[[3.0, 0.0, 0.0], [4.0, 9.0, 1.0]]> : tensor<2x3xf32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %free = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %2:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%x, %free) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>, tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>, tensor<2xf32>)
  check.expect_eq_const %2#1, dense<[2, 1, 3]> : tensor<3xi32>
  %given = stablehlo.constant dense<[0, 0, 1]> : tensor<3xi32>
  %3:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%x, %given) {backend_config = ""} : (tensor<2x3xf32>, tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>, tensor<2xf32>)
  check.expect_eq_const %3#1, dense<[3, 1, 2]> : tensor<3xi32>
)"),
            "");
}

TEST(StablehloValues, RunningProductsOfComplexNumbers) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<[(1.0, 2.0), (2.0, -1.0), (6.0, -3.0)]> : tensor<3xcomplex<f32>>
)"),
            "");
}

TEST(StablehloValues, GatherAndScatterWithBodies) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi32>
  %u = stablehlo.constant dense<[[10, 10], [20, 20], [30, 30]]> : tensor<3x2xi32>
  %j = stablehlo.constant dense<[[2], [2], [7]]> : tensor<3x1xi32>
  %1 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %2 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<3x1xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %1, dense<[[1, 2], [3, 4], [35, 36]]> : tensor<3x2xi32>
  %3 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %two = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.multiply %a, %two : tensor<i32>
    %4 = stablehlo.subtract %b, %2 : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<3x1xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %3, dense<[[1, 2], [3, 4], [20, 24]]> : tensor<3x2xi32>
  %k = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi32>
  %5 = "stablehlo.torch_index_select"(%x, %k) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<3x2xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %5, dense<[[2, 1, 2], [4, 3, 4], [6, 5, 6]]> : tensor<3x3xi32>)"),
            "");
}

TEST(StablehloValues, SortsByAnyComparator) {
  EXPECT_EQ(problems_of(R"(
  %k = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
  %v = stablehlo.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
  check.expect_eq_const %0#0, dense<[1, 1, 2, 3]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[20.0, 40.0, 30.0, 10.0]> : tensor<4xf32>
  %values, %indices = chlo.top_k(%v, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %values, dense<[40.0, 30.0]> : tensor<2xf32>
  check.expect_eq_const %indices, dense<[3, 2]> : tensor<2xi32>
  %2:2 = stablehlo.custom_call @mhlo.topk(%v) {mhlo.attributes = {k = 2 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %2#0, dense<[10.0, 20.0]> : tensor<2xf32>
  check.expect_eq_const %2#1, dense<[0, 1]> : tensor<2xi32>)"),
            "");
}

// -NaN, -inf, -0, 0, inf, NaN; of equal elements the first.
TEST(StablehloValues, TopKIsByTotalOrder) {
  EXPECT_EQ(problems_of(R"(
  %v = stablehlo.constant dense<[0x7F800000, 0x7FC00000, 0xFFC00000, -0.0, 0.0, 3.0, 3.0]> : tensor<7xf32>
  %values, %indices = chlo.top_k(%v, k = 7) : tensor<7xf32> -> (tensor<7xf32>, tensor<7xi32>)
  check.expect_eq_const %indices, dense<[1, 0, 5, 6, 4, 3, 2]> : tensor<7xi32>
  check.expect_eq_const %values, dense<[0x7FC00000, 0x7F800000, 3.0, 3.0, 0.0, -0.0, 0xFFC00000]> : tensor<7xf32>
  %n = stablehlo.constant dense<[[3, 1], [-2, 4]]> : tensor<2x2xi8>
  %0:2 = stablehlo.custom_call @TopK(%n) : (tensor<2x2xi8>) -> (tensor<2x1xi8>, tensor<2x1xi32>)
  check.expect_eq_const %0#0, dense<[[3], [4]]> : tensor<2x1xi8>
  check.expect_eq_const %0#1, dense<[[0], [1]]> : tensor<2x1xi32>)"),
            "");
}

TEST(StablehloValues, ApproximateTopKIsExact) {
  EXPECT_EQ(problems(R"(
func.func private @least(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main() {
  %v = stablehlo.constant dense<[[4.0, 1.0], [3.0, 5.0], [2.0, 0.0]]> : tensor<3x2xf32>
  %i = stablehlo.iota dim = 0 : tensor<3x2xi32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%v, %i, %high, %none) {backend_config = "", called_computations = [@least], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<3x2xf32>, tensor<3x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[2.0, 0.0], [3.0, 1.0]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[[2, 2], [1, 0]]> : tensor<2x2xi32>
  return
})"),
            "");
}

TEST(StablehloValues, ReverseTakesAxesInAnyOrder) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi32>
  %0 = stablehlo.reverse %x, dims = [2, 1] : tensor<1x2x2xi32>
  check.expect_eq_const %0, dense<[[[4, 3], [2, 1]]]> : tensor<1x2x2xi32>)"),
            "");
}

TEST(StablehloValues, SumsOfBoolsAreWhetherAnyHolds) {
  EXPECT_EQ(problems_of(R"(
  %a = stablehlo.constant dense<[[true, true, false], [false, false, true]]> : tensor<2x3xi1>
  %b = stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[true, false]> : tensor<2xi1>)"),
            "");
}

// 0x6B200159, 0x99BA4EFE: the first words that ThreeFry 2x32 gives for a key and a counter of 0
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, their test vectors).
TEST(StablehloValues, RandomBitsOfOneScalar) {
  EXPECT_EQ(problems_of(R"(
  %s = stablehlo.constant dense<0> : tensor<2xui64>
  %state, %bits = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui64>)
  %0 = stablehlo.constant dense<0xFFFFFFFF> : tensor<ui64>
  %low = stablehlo.and %bits, %0 : tensor<ui64>
  check.expect_eq_const %low, dense<0x6B200159> : tensor<ui64>)"),
            "");
}

TEST(StablehloValues, SelectAndScatter) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[1.0, 3.0, 2.0, 5.0, 4.0, 0.0]> : tensor<6xf32>
  %s = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %0, dense<[0.0, 10.0, 0.0, 20.0, 30.0, 0.0]> : tensor<6xf32>)"),
            "");
}

TEST(StablehloValues, ComplexNumbers) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[(1.0, 2.0), (0.5, -1.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.multiply %x, %x : tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(-3.0, 4.0), (-0.75, -1.0)]> : tensor<2xcomplex<f32>>
  %re = stablehlo.real %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %im = stablehlo.imag %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = stablehlo.complex %im, %re : tensor<2xcomplex<f32>>
  check.expect_eq_const %1, dense<[(2.0, 1.0), (-1.0, 0.5)]> : tensor<2xcomplex<f32>>
  %2 = chlo.conj %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %2, dense<[(1.0, -2.0), (0.5, 1.0)]> : tensor<2xcomplex<f32>>
  %3 = stablehlo.constant dense<(3.0, 4.0)> : tensor<complex<f64>>
  %4 = stablehlo.abs %3 : (tensor<complex<f64>>) -> tensor<f64>
  check.expect_close %4, %4, max_ulp_difference = 0 : tensor<f64>, tensor<f64>
  check.expect_eq_const %4, dense<5.0> : tensor<f64>)"),
            "");
}

TEST(StablehloValues, NumbersOfAttributesHaveTheirOwnType) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = "chlo.constant_like"(%x) <{value = 0x7F800000 : f32}> : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<0x7F800000> : tensor<2xf32>
  %i = stablehlo.constant dense<1> : tensor<2xi64>
  %1 = "chlo.constant_like"(%i) <{value = 9007199254740993 : i64}> : (tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %1, dense<9007199254740993> : tensor<2xi64>
  %b = stablehlo.constant dense<false> : tensor<2xi1>
  %2 = "chlo.constant_like"(%b) <{value = true}> : (tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %2, dense<true> : tensor<2xi1>)"),
            "");
}

// Halfway between two neighbours in f32, and a little above in f64.
TEST(StablehloValues, NarrowFloatsAreRoundedOnce) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<[1.0625000001, -1.0625000001, 1.0625, 1.1874999999, 1.0e-300, 464.0000001]> : tensor<6xf64>
  %1 = stablehlo.convert %0 : (tensor<6xf64>) -> tensor<6xf8E4M3FN>
  %2 = stablehlo.convert %1 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
  check.expect_eq_const %2, dense<[1.125, -1.125, 1.0, 1.125, 0.0, 0x7FC00000]> : tensor<6xf32>)"),
            "");
}

TEST(StablehloValues, NarrowTypes) {
  EXPECT_EQ(problems_of(R"(
  %0 = stablehlo.constant dense<[7, -8, 3]> : tensor<3xi4>
  %1 = stablehlo.add %0, %0 : tensor<3xi4>
  check.expect_eq_const %1, dense<[-2, 0, 6]> : tensor<3xi4>
  %2 = stablehlo.constant dense<[100.0, -100.0, 2.5]> : tensor<3xf32>
  %3 = stablehlo.convert %2 : (tensor<3xf32>) -> tensor<3xi4>
  check.expect_eq_const %3, dense<[7, -8, 2]> : tensor<3xi4>
  %4 = stablehlo.constant dense<[3, 2]> : tensor<2xui2>
  %5 = stablehlo.multiply %4, %4 : tensor<2xui2>
  check.expect_eq_const %5, dense<[1, 0]> : tensor<2xui2>
  %6 = stablehlo.constant dense<[1.0, 300.0, 500.0, 0.001, -0.0001]> : tensor<5xf32>
  %7 = stablehlo.convert %6 : (tensor<5xf32>) -> tensor<5xf8E4M3FN>
  check.expect_eq_const %7, dense<[1.0, 288.0, 0x7F, 0x01, 0x80]> : tensor<5xf8E4M3FN>
  %8 = stablehlo.convert %6 : (tensor<5xf32>) -> tensor<5xf8E5M2>
  %9 = stablehlo.add %8, %8 : tensor<5xf8E5M2>
  check.expect_eq_const %9, dense<[2.0, 640.0, 1024.0, 0x18, 0x8B]> : tensor<5xf8E5M2>)"),
            "");
}

TEST(StablehloValues, BitsOfNarrowIntegers) {
  EXPECT_EQ(problems_of(R"(
  %x = stablehlo.constant dense<[-1, 3, -7, 0]> : tensor<4xi4>
  %u = stablehlo.constant dense<[15, 3, 9, 0]> : tensor<4xui4>
  %y = stablehlo.constant dense<[1, 0, 2, 9]> : tensor<4xi4>
  %v = stablehlo.constant dense<[1, 0, 2, 9]> : tensor<4xui4>
  %0 = stablehlo.popcnt %x : tensor<4xi4>
  check.expect_eq_const %0, dense<[4, 2, 2, 0]> : tensor<4xi4>
  %1 = stablehlo.popcnt %u : tensor<4xui4>
  check.expect_eq_const %1, dense<[4, 2, 2, 0]> : tensor<4xui4>
  %2 = stablehlo.count_leading_zeros %x : tensor<4xi4>
  check.expect_eq_const %2, dense<[0, 2, 0, 4]> : tensor<4xi4>
  %3 = stablehlo.count_leading_zeros %u : tensor<4xui4>
  check.expect_eq_const %3, dense<[0, 2, 0, 4]> : tensor<4xui4>
  %4 = stablehlo.shift_right_logical %x, %y : tensor<4xi4>
  check.expect_eq_const %4, dense<[7, 3, 2, 0]> : tensor<4xi4>
  %5 = stablehlo.shift_right_logical %u, %v : tensor<4xui4>
  check.expect_eq_const %5, dense<[7, 3, 2, 0]> : tensor<4xui4>
  %6 = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi4>
  check.expect_eq_const %6, dense<[-1, 3, -2, 0]> : tensor<4xi4>
  %7 = stablehlo.shift_right_arithmetic %u, %v : tensor<4xui4>
  check.expect_eq_const %7, dense<[15, 3, 14, 0]> : tensor<4xui4>
  %8 = stablehlo.constant dense<[2, 1]> : tensor<2xui2>
  %9 = stablehlo.constant dense<[1, 3]> : tensor<2xui2>
  %10 = stablehlo.shift_right_arithmetic %8, %9 : tensor<2xui2>
  check.expect_eq_const %10, dense<[3, 0]> : tensor<2xui2>)"),
            "");
}

// --- functions as C++ functions ------------------------------------------------------------------

constexpr const char* layer = R"(
func.func @main(%w: tensor<2x2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %0 = stablehlo.dot %w, %x : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<2xf32>, tensor<f32>
})";

TEST(StablehloFunction, IsAFunctionOverArrays) {
  const ab::stablehlo::Function main = ab::stablehlo::parse(layer).function("main");
  ASSERT_EQ(main.argument_types().size(), 2u);
  EXPECT_EQ(to_string(main.argument_types()[0]), "f32[2,2]");
  EXPECT_EQ(to_string(main.result_types()[1]), "f32[]");
  const std::vector<ab::Array> arguments = {ab::array({{1.0f, 2.0f}, {3.0f, 4.0f}}),
                                            ab::array({5.0f, 6.0f})};
  const auto compiled = ab::jit(main);
  for (const std::vector<ab::Array>& results : {main(arguments), compiled(arguments)}) {
    EXPECT_EQ(results[0].to_vector<float>(), (std::vector<float>{17, 39}));
    EXPECT_EQ(results[1].item<float>(), 56);
  }
  EXPECT_EQ(ab::trace(main, arguments).parameter_count(), 2u);
}

TEST(StablehloFunction, NamesWhatIsWrongWithACall) {
  const ab::stablehlo::Module module = ab::stablehlo::parse(layer, "layer.mlir");
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const ab::Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message([&] { module.function("mian"); }),
            "there is no function @mian in the module; there are @main");
  const std::string wrong = message([&] {
    module.function("main")({ab::zeros({2, 2}), ab::zeros({3})});
  });
  EXPECT_NE(wrong.find("@main: argument 1 is tensor<3xf32>, and %x is tensor<2xf32>"),
            std::string::npos)
      << wrong;
  EXPECT_NE(message([&] {
              module.function("main")({ab::Array(), ab::Array()});
            }).find("an argument is an empty Array"),
            std::string::npos);
}

TEST(StablehloFunction, RegisteredCustomCalls) {
  constexpr const char* text = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @triple(%x) {backend_config = "by 3"} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})";
  const ab::stablehlo::Function main = ab::stablehlo::parse(text).function("main");
  EXPECT_THROW(main({ab::ones({2})}), ab::Error);
  ab::stablehlo::register_custom_call("triple", [](const ab::stablehlo::CustomCallSite& call) {
    EXPECT_EQ(call.backend_config, "by 3");
    EXPECT_EQ(to_string(call.results[0]), "f32[2]");
    return std::vector{call.operands[0] * 3};
  });
  EXPECT_EQ(main({ab::ones({2})})[0].to_vector<float>(), (std::vector<float>{3, 3}));
}

}  // namespace
