#include <gtest/gtest.h>

#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

TEST(LowerElementwise, ChainsOfEverySize) {
  for (std::int64_t n : sizes) {
    expect_lowers(with_sizes(R"(
graph chain(%0: f32[N], %1: f32[N]) {
  %2: f32[N] = multiply %0, %1
  %3: f32[N] = add %2, %0
  %4: bool[N] = compare %3, %1 direction=lt
  %5: f32[N] = select %4, %3, %2
  return %5, %3
})",
                             n));
  }
}

TEST(LowerElementwise, BroadcastsOfEverySize) {
  for (std::int64_t n : sizes) {
    for (std::int64_t m : {0, 1, 3, 33}) {
      expect_lowers(with_sizes(R"(
graph broadcasts(%0: f32[N,M], %1: f32[M], %2: f32[N,1], %3: f32[]) {
  %4: f32[N,M] = broadcast_in_dim %1 axes=[1]
  %5: f32[N,M] = broadcast_in_dim %2 axes=[0,1]
  %6: f32[N,M] = broadcast_in_dim %3 axes=[]
  %7: f32[N,M] = multiply %0, %4
  %8: f32[N,M] = add %7, %5
  %9: f32[N,M] = maximum %8, %6
  return %9
})",
                               n, m));
    }
  }
}

TEST(LowerElementwise, ReadsTransposedOperands) {
  for (std::int64_t n : sizes) {
    for (std::int64_t m : {1, 7, 64}) {
      expect_lowers(with_sizes(R"(
graph transposed(%0: f32[N,M], %1: f32[M,N]) {
  %2: f32[M,N] = transpose %0 axes=[1,0]
  %3: f32[M,N] = subtract %2, %1
  return %3
})",
                               n, m));
    }
  }
}

TEST(LowerElementwise, ReshapesWithoutDivisionWhereAxesRegroup) {
  const Graph region = parse(R"(
graph reshapes(%0: f32[6,4,5], %1: f32[24,5]) {
  %2: f32[24,5] = reshape %0
  %3: f32[24,5] = add %2, %1
  return %3
})");
  expect_lowers(region);
  const Lowered lowered = lower_region(region);
  EXPECT_EQ(to_string(lowered.calls[0].kernel).find("divide"), std::string::npos);
}

TEST(LowerElementwise, ReshapesAcrossAxes) {
  expect_lowers(R"(
graph reshapes(%0: f32[6,4,5], %1: f32[5]) {
  %2: f32[3,8,5] = reshape %0
  %3: f32[3,8,5] = broadcast_in_dim %1 axes=[2]
  %4: f32[3,8,5] = add %2, %3
  %5: f32[8,15] = reshape %4
  %6: f32[15,8] = transpose %5 axes=[1,0]
  %7: f32[15,8] = reverse %6 axes=[0]
  %8: f32[2,60] = reshape %7
  return %8
})");
}

TEST(LowerElementwise, SlicesAndReverses) {
  for (std::int64_t n : {7, 8, 33, 129}) {
    expect_lowers(with_sizes(R"(
graph slices(%0: i32[N,9], %1: i32[3,3]) {
  %2: i32[3,3] = slice %0 start=[1,2] limit=[6,9] stride=[2,3]
  %3: i32[3,3] = reverse %2 axes=[0,1]
  %4: i32[3,3] = subtract %3, %1
  return %4
})",
                             n));
  }
}

TEST(LowerElementwise, PadsOnEverySide) {
  for (std::int64_t n : sizes) {
    Graph region = [&] {
      GraphBuilder b("pads");
      Value x = b.parameter({f32, {n, 3}}), around = b.parameter({f32, {}});
      Value padded = b.add(Op::pad, {x, around}, PadAttributes{{2, 1}, {3, 0}, {1, 2}});
      Value doubled = b.add(Op::add, {padded, padded});
      return b.build({doubled});
    }();
    expect_lowers(region);
  }
}

TEST(LowerElementwise, PadsByCropping) {
  GraphBuilder b("crops");
  Value x = b.parameter({i16, {9, 9}}), around = b.parameter({i16, {}});
  Value padded = b.add(Op::pad, {x, around}, PadAttributes{{-2, 4}, {1, -3}, {0, 1}});
  Value again = b.add(Op::pad, {padded, around}, PadAttributes{{1, 1}, {1, 1}, {0, 0}});
  expect_lowers(b.build({again}));
}

TEST(LowerElementwise, ConcatenatesInAnyOrder) {
  for (std::int64_t n : sizes) {
    GraphBuilder b("joins");
    Value x = b.parameter({f32, {n, 5}}), y = b.parameter({f32, {3, 5}});
    Value joined = b.add(Op::concatenate, {x, y, x}, AxisAttributes{0});
    Value part = b.add(Op::slice, {joined}, SliceAttributes{{1, 0}, {2 * n + 3, 5}, {1, 2}});
    Value turned = b.add(Op::reverse, {part}, AxesAttributes{{0}});
    expect_lowers(b.build({turned}));
  }
}

TEST(LowerElementwise, ConcatenationReadsOnlyTheChosenOperand) {
  GraphBuilder b("joins");
  Value x = b.parameter({f32, {4}}), y = b.parameter({f32, {5}});
  Value joined = b.add(Op::concatenate, {x, y}, AxisAttributes{0});
  const Graph region = b.build({joined});
  const Lowered lowered = lower_region(region);
  for (const Instruction& instruction : lowered.calls[0].kernel.instructions) {
    auto* load = std::get_if<Load>(&instruction.operation);
    EXPECT_TRUE(!load || load->mask);
  }
  expect_lowers(region);
}

TEST(LowerElementwise, CountsAndDrawsBits) {
  GraphBuilder b("bits");
  Value key = b.parameter({u64, {}});
  Value rows = b.add(Op::iota, {}, AxisAttributes{0}, Type{u64, {9, 33}});
  Value columns = b.add(Op::iota, {}, AxisAttributes{1}, Type{u64, {9, 33}});
  Value counter = b.add(Op::add, {rows, columns});
  Value keys = b.add(Op::broadcast_in_dim, {key}, AxesAttributes{}, Type{u64, {9, 33}});
  Value bits = b.add(Op::random_bits, {keys, counter});
  Value number = b.add(Op::convert, {bits}, NoAttributes{}, Type{f32, {9, 33}});
  Value halves = b.add(Op::iota, {}, AxisAttributes{1}, Type{f16, {9, 33}});
  expect_lowers(b.build({number, halves}));
}

TEST(LowerElementwise, EveryUnaryOp) {
  for (const OpInfo& op : all_ops()) {
    if (!is_elementwise(op) || op.arity != 1 || op.has(OpInfo::typed)) continue;
    const Dtype dtype = op.has(OpInfo::integers_only)  ? i32
                        : op.has(OpInfo::complex_only) ? c128
                                                       : f32;
    GraphBuilder b("unary");
    Value x = b.parameter({dtype, {9}});
    expect_lowers(b.build({b.add(*parse_op(op.name), {x})}));
  }
}

TEST(LowerElementwise, EveryBinaryOp) {
  for (const OpInfo& op : all_ops()) {
    if (!is_elementwise(op) || op.arity != 2 || op.name == "random_bits" || op.name == "compare")
      continue;
    const Dtype dtype = op.has(OpInfo::floats_only) ? f64 : i32;
    GraphBuilder b("binary");
    Value x = b.parameter({dtype, {9}}), y = b.parameter({dtype, {9}});
    expect_lowers(b.build({b.add(*parse_op(op.name), {x, y})}));
  }
}

TEST(LowerElementwise, ConvertsBetweenAllDtypes) {
  for (int from = 0; from < dtype_count; ++from) {
    if (is_complex(static_cast<Dtype>(from))) continue;
    GraphBuilder b("converts");
    Value x = b.parameter({static_cast<Dtype>(from), {9}});
    std::vector<Value> outputs;
    for (int to = 0; to < dtype_count; ++to) {
      if (to == from || is_complex(static_cast<Dtype>(to))) continue;
      outputs.push_back(b.add(Op::convert, {x}, NoAttributes{}, Type{static_cast<Dtype>(to), {9}}));
    }
    expect_lowers(b.build(outputs));
  }
}

TEST(LowerElementwise, NeighbouringAxesShareALoop) {
  const Graph region = parse(R"(
graph cube(%0: f32[4,5,6], %1: f32[6]) {
  %2: f32[4,5,6] = broadcast_in_dim %1 axes=[2]
  %3: f32[4,5,6] = add %0, %2
  return %3
})");
  const Lowered lowered = lower_region(region);
  std::vector<std::int64_t> extents;
  for (const Instruction& instruction : lowered.calls[0].kernel.instructions) {
    if (auto* loop = std::get_if<Loop>(&instruction.operation)) extents.push_back(loop->extent);
  }
  EXPECT_EQ(extents, (std::vector<std::int64_t>{20, 6}));
  EXPECT_EQ(lowered.calls[0].kernel.cost, (Cost{120 * 4 + 6 * 4, 120 * 4, 120}));
}

TEST(LowerElementwise, DeepChainsNeedNoStack) {
  GraphBuilder b("deep");
  Value x = b.parameter({f32, {2}});
  Value y = x;
  for (int i = 0; i < 20000; ++i) y = b.add(Op::add, {y, x});
  expect_lowers(b.build({y}));
}

}  // namespace
}  // namespace anabranch::testing
